// Reference body of dictionary_gather: stock ATen calls or scalar loops, slow and simple, on any device.
#include <ATen/core/Tensor.h>
#include <torch/library.h>

namespace pistachio::kernels::composite {

namespace {

at::Tensor dictionary_gather(const at::Tensor& dictionary, const at::Tensor& codes) {
  return dictionary.index_select(0, codes);
}

}  // namespace

TORCH_LIBRARY_IMPL(pistachio, CompositeExplicitAutograd, library) {
  library.impl("dictionary_gather", TORCH_FN(dictionary_gather));
}

}  // namespace pistachio::kernels::composite
