// Schema and entry point of join_build.
#include "kernels/ops/join_build.h"

#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include "kernels/ops/dispatch.h"
#include "kernels/ops/relational_check.h"
#include "kernels/ops/stop_flag.h"

namespace pistachio::kernels {

int64_t join_bucket_bits(int64_t rows) {
  int64_t bits = 0;
  while (bits < 32 && (int64_t{1} << bits) < rows) ++bits;
  return bits;
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> join_build(const at::Tensor& hashes, const at::Tensor& validity, const at::Tensor& stop) {
  check_words(hashes, hashes);
  const std::optional<at::Tensor> mask = optional_validity(validity, hashes.size(0), hashes);
  static const auto operation =
      find_operation<std::tuple<at::Tensor, at::Tensor, at::Tensor>(const at::Tensor&, const std::optional<at::Tensor>&, int64_t,
                                                                    const std::optional<at::Tensor>&)>("pistachio::join_build");
  return operation.redispatch(dispatch_keys(hashes), hashes.contiguous(), mask, join_bucket_bits(hashes.size(0)), optional_stop(stop));
}

TORCH_LIBRARY_FRAGMENT(pistachio, library) {
  library.def(
      "join_build(Tensor hashes, Tensor? validity, int bits, Tensor? stop) -> (Tensor offsets, Tensor order, Tensor ordered_hashes)");
}

}  // namespace pistachio::kernels
