// Entry point of partition_rows.
#include "kernels/ops/partition_rows.h"

#include <ATen/core/Tensor.h>

#include "base/check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/relational_check.h"
#include "kernels/ops/stop_flag.h"

namespace pistachio::kernels {

std::tuple<at::Tensor, at::Tensor> partition_rows(const at::Tensor& hashes, int64_t bits, const at::Tensor& stop) {
  check_words(hashes, hashes);
  ENSURE(bits >= 0 && bits <= 12, "{} bits", bits);
  static const Operation<std::tuple<at::Tensor, at::Tensor>(const at::Tensor&, int64_t, const std::optional<at::Tensor>&)> operation(
      "partition_rows");
  return operation.on(hashes)(hashes.contiguous(), bits, optional_stop(stop));
}

}  // namespace pistachio::kernels
