// Schema and entry point of dictionary_gather.
#include "kernels/ops/dictionary_gather.h"

#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include "base/check.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"

namespace pistachio::kernels {

at::Tensor dictionary_gather(const at::Tensor& dictionary, const at::Tensor& codes) {
  check_values(dictionary);
  check_codes(codes, dictionary);
  ENSURE(codes.numel() == 0 || dictionary.size(0) > 0, "{} codes for an empty dictionary", codes.numel());
  static const auto operation = find_operation<at::Tensor(const at::Tensor&, const at::Tensor&)>("pistachio::dictionary_gather");
  return operation.redispatch(dispatch_keys(dictionary), dictionary.contiguous(), codes.contiguous());
}

TORCH_LIBRARY_FRAGMENT(pistachio, library) {
  library.def("dictionary_gather(Tensor dictionary, Tensor codes) -> Tensor");
}

}  // namespace pistachio::kernels
