// Reference body of magnitude_below: a scalar loop, on any device.
#include <ATen/TensorIndexing.h>

#include "kernels/ops/argument_check.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/int128.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::composite {

namespace {

bool magnitude_below(const at::Tensor& values, int64_t bound_low, int64_t bound_high, const std::optional<at::Tensor>& validity) {
  const at::Tensor numbers = (validity ? values.index({*validity}) : values).to(at::kCPU, at::kLong).contiguous();
  const Int128 bound = int128_from_words(bound_low, bound_high);
  const int64_t* words = numbers.const_data_ptr<int64_t>();
  for (int64_t row = 0; row < numbers.size(0); ++row) {
    const Int128 number = is_wide(values) ? int128_from_words(words[2 * row], words[2 * row + 1]) : Int128{words[row]};
    if (number >= bound || number <= -bound) return false;
  }
  return true;
}

}  // namespace

REGISTER_BODY(Composite, "magnitude_below", magnitude_below);

}  // namespace pistachio::kernels::composite
