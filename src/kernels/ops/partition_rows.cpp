// Schema and entry point of partition_rows.
#include "kernels/ops/partition_rows.h"

#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include "base/check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/relational_check.h"
#include "kernels/ops/stop_flag.h"

namespace pistachio::kernels {

std::tuple<at::Tensor, at::Tensor> partition_rows(const at::Tensor& hashes, int64_t bits, const at::Tensor& stop) {
  check_words(hashes, hashes);
  ENSURE(bits >= 0 && bits <= 12, "{} bits", bits);
  static const auto operation =
      find_operation<std::tuple<at::Tensor, at::Tensor>(const at::Tensor&, int64_t, const std::optional<at::Tensor>&)>(
          "pistachio::partition_rows");
  return operation.redispatch(dispatch_keys(hashes), hashes.contiguous(), bits, optional_stop(stop));
}

TORCH_LIBRARY_FRAGMENT(pistachio, library) {
  library.def("partition_rows(Tensor hashes, int bits, Tensor? stop) -> (Tensor order, Tensor offsets)");
}

}  // namespace pistachio::kernels
