#include "kernels/ops/stop_flag.h"

#include "base/check.h"
#include "base/error.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels {

StopFlag::StopFlag() : flag_(at::zeros({1}, at::kBool)) {}

std::optional<at::Tensor> optional_stop(const at::Tensor& stop) {
  if (!stop.defined()) return std::nullopt;
  ENSURE(stop.is_cpu() && stop.scalar_type() == at::kBool && stop.numel() == 1, "stop is one bool on the host");
  return stop;
}

void StopCheck::throw_stopped() {
  throw Cancelled("stopped");
}

}  // namespace pistachio::kernels
