// CUDA bodies of compare_constant, compare_wide_constant, compare_columns, compare_text_constant and compare_text_columns, on torch's
// current stream. No synchronization.
#include "kernels/cuda/compare_cuda.h"

#include <algorithm>
#include <string_view>

#include "kernels/cuda/decode_status.h"
#include "kernels/cuda/kernel_call.h"
#include "kernels/cuda/text_column.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cuda {

namespace {

Comparison checked(int64_t comparison) {
  ENSURE(comparison >= 0 && comparison <= static_cast<int64_t>(Comparison::GreaterEqual), "comparison {}", comparison);
  return static_cast<Comparison>(comparison);
}

at::Tensor compare_constant(const at::Tensor& values, int64_t comparison, const at::Scalar& constant) {
  const KernelCall call(values);
  const int64_t rows = values.numel();
  at::Tensor result = empty_flags(values, rows);
  bool* out = result.mutable_data_ptr<bool>();
  if (values.is_floating_point()) {
    compare_floats(value_kind_of(values), values.const_data_ptr(), rows, checked(comparison), constant.to<double>(), out, call.stream());
  } else {
    compare_integers(value_kind_of(values), values.const_data_ptr(), rows, checked(comparison), constant.to<int64_t>(), out, call.stream());
  }
  return result;
}

at::Tensor compare_wide_constant(const at::Tensor& values, int64_t comparison, int64_t low, int64_t high) {
  const KernelCall call(values);
  at::Tensor result = empty_flags(values, values.size(0));
  compare_wide(values.const_data_ptr(), values.size(0), checked(comparison), {low, high}, result.mutable_data_ptr<bool>(), call.stream());
  return result;
}

at::Tensor compare_columns(const at::Tensor& left, int64_t comparison, const at::Tensor& right) {
  const KernelCall call(left);
  at::Tensor result = empty_flags(left, left.size(0));
  compare_value_columns(value_kind_of(left), left.const_data_ptr(), right.const_data_ptr(), left.size(0), checked(comparison),
                        result.mutable_data_ptr<bool>(), call.stream());
  return result;
}

// Eight bytes starting at `offset` as a big-endian number, zero-padded.
uint64_t text_key(std::string_view text, size_t offset) {
  uint64_t key = 0;
  for (size_t i = 0; i < 8; ++i) key = key << 8 | (offset + i < text.size() ? static_cast<uint8_t>(text[offset + i]) : 0);
  return key;
}

at::Tensor compare_text_constant(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends, int64_t comparison,
                                 std::string_view text) {
  const KernelCall call(bytes);
  at::Tensor result = empty_flags(bytes, begins.size(0));
  const auto length = static_cast<int64_t>(text.size());
  const at::Tensor copy = length > text_constant_key_bytes ? upload_bytes(text.data(), length) : at::Tensor();
  const TextConstant constant{text_key(text, 0), text_key(text, 8), {copy.defined() ? copy.const_data_ptr<uint8_t>() : nullptr, length}};
  compare_text_with_constant(text_column(bytes, begins, ends), begins.size(0), checked(comparison), constant,
                             result.mutable_data_ptr<bool>(), call.stream());
  return result;
}

at::Tensor compare_text_columns(const at::Tensor& left_bytes, const at::Tensor& left_begins, const at::Tensor& left_ends,
                                int64_t comparison, const at::Tensor& right_bytes, const at::Tensor& right_begins,
                                const at::Tensor& right_ends) {
  const KernelCall call(left_bytes);
  at::Tensor result = empty_flags(left_bytes, left_begins.size(0));
  compare_two_texts(text_column(left_bytes, left_begins, left_ends), text_column(right_bytes, right_begins, right_ends),
                    left_begins.size(0), checked(comparison), result.mutable_data_ptr<bool>(), call.stream());
  return result;
}

}  // namespace

REGISTER_BODY(Cuda, "compare_constant", compare_constant);
REGISTER_BODY(Cuda, "compare_wide_constant", compare_wide_constant);
REGISTER_BODY(Cuda, "compare_columns", compare_columns);
REGISTER_BODY(Cuda, "compare_text_constant", compare_text_constant);
REGISTER_BODY(Cuda, "compare_text_columns", compare_text_columns);

}  // namespace pistachio::kernels::cuda
