// CPU body of dictionary_gather.
#include "kernels/cpu/dictionary_gather_simd.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

namespace {

at::Tensor dictionary_gather(const at::Tensor& dictionary, const at::Tensor& codes) {
  const bool wide = dictionary.dim() == 2;
  const int64_t rows = codes.numel();
  at::Tensor values = wide ? at::empty({rows, 2}, dictionary.options()) : at::empty({rows}, dictionary.options());
  gather_values(dictionary.const_data_ptr(), dictionary.size(0), dictionary.element_size() * (wide ? 2 : 1),
                codes.const_data_ptr<int32_t>(), rows, values.mutable_data_ptr());
  return values;
}

}  // namespace

REGISTER_BODY(Cpu, "dictionary_gather", dictionary_gather);

}  // namespace pistachio::kernels::cpu
