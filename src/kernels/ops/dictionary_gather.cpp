// Entry point of dictionary_gather.
#include "kernels/ops/dictionary_gather.h"

#include <ATen/core/Tensor.h>

#include "base/check.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"

namespace pistachio::kernels {

at::Tensor dictionary_gather(const at::Tensor& dictionary, const at::Tensor& codes) {
  check_values(dictionary);
  check_codes(codes, dictionary);
  ENSURE(codes.numel() == 0 || dictionary.size(0) > 0, "{} codes for an empty dictionary", codes.numel());
  static const Operation<at::Tensor(const at::Tensor&, const at::Tensor&)> operation("dictionary_gather");
  return operation.on(dictionary)(dictionary.contiguous(), codes.contiguous());
}

}  // namespace pistachio::kernels
