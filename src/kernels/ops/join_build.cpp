// Schema and entry point of join_build.
#include "kernels/ops/join_build.h"

#include <ATen/ATen.h>
#include <torch/library.h>

#include "kernels/ops/dispatch.h"
#include "kernels/ops/relational_check.h"

namespace pistachio::kernels {

int64_t join_bucket_bits(int64_t rows) {
  int64_t bits = 0;
  while (bits < 32 && (int64_t{1} << bits) < rows) ++bits;
  return bits;
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> join_build(const at::Tensor& hashes, const at::Tensor& validity) {
  check_words(hashes, hashes);
  const std::optional<at::Tensor> mask = optional_validity(validity, hashes.size(0), hashes);
  static const auto operation =
      find_operation<std::tuple<at::Tensor, at::Tensor, at::Tensor>(const at::Tensor&, const std::optional<at::Tensor>&, int64_t)>(
          "pistachio::join_build");
  return operation.redispatch(dispatch_keys(hashes), hashes.contiguous(), mask, join_bucket_bits(hashes.size(0)));
}

TORCH_LIBRARY_FRAGMENT(pistachio, library) {
  library.def("join_build(Tensor hashes, Tensor? validity, int bits) -> (Tensor offsets, Tensor order, Tensor ordered_hashes)");
}

}  // namespace pistachio::kernels
