// Reference body of dictionary_gather: stock ATen calls or scalar loops, slow and simple, on any device.
#include <ATen/core/Tensor.h>

#include "kernels/ops/body_table.h"

namespace pistachio::kernels::composite {

namespace {

at::Tensor dictionary_gather(const at::Tensor& dictionary, const at::Tensor& codes) {
  return dictionary.index_select(0, codes);
}

}  // namespace

REGISTER_BODY(Composite, "dictionary_gather", dictionary_gather);

}  // namespace pistachio::kernels::composite
