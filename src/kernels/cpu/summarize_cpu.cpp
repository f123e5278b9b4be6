// CPU bodies of summarize and summarize_dictionary.
#include "base/error.h"
#include "kernels/cpu/summarize_simd.h"
#include "kernels/cpu/value_kind_of.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

namespace {

// Two-word decimals are rare enough for a scalar loop.
at::Tensor summarize_wide(const at::Tensor& values, const int32_t* codes, const bool* validity, int64_t rows) {
  const int64_t* words = values.const_data_ptr<int64_t>();
  int64_t count = 0;
  Int128 min = 0, max = 0, sum = 0;
  for (int64_t row = 0; row < rows; ++row) {
    if (validity != nullptr && !validity[row]) continue;
    const int64_t entry = codes != nullptr ? codes[row] : row;
    const Int128 value = int128_from_words(words[2 * entry], words[2 * entry + 1]);
    min = count == 0 || value < min ? value : min;
    max = count == 0 || value > max ? value : max;
    if (__builtin_add_overflow(sum, value, &sum)) throw UserError("the sum of decimals does not fit 38 digits");
    ++count;
  }
  return at::tensor({count, low_word(min), high_word(min), low_word(max), high_word(max), low_word(sum), high_word(sum)}, at::kLong);
}

at::Tensor summarize_any(const at::Tensor& values, const int32_t* codes, const std::optional<at::Tensor>& validity, int64_t rows) {
  const bool* valid = validity ? validity->const_data_ptr<bool>() : nullptr;
  if (is_wide(values)) return summarize_wide(values, codes, valid, rows);
  const uint8_t* valid_bytes = reinterpret_cast<const uint8_t*>(valid);
  const ValueKind kind = value_kind_of(values);
  if (values.is_floating_point()) {
    const FloatSummary summary = summarize_floats(kind, values.const_data_ptr(), values.numel(), codes, valid_bytes, rows);
    return at::tensor({static_cast<double>(summary.count), summary.min, summary.max, summary.sum}, at::kDouble);
  }
  const IntegerSummary summary = summarize_integers(kind, values.const_data_ptr(), values.numel(), codes, valid_bytes, rows);
  return at::tensor({summary.count, summary.min, summary.max, low_word(summary.sum), high_word(summary.sum)}, at::kLong);
}

at::Tensor summarize(const at::Tensor& values, const std::optional<at::Tensor>& validity) {
  return summarize_any(values, nullptr, validity, values.size(0));
}

at::Tensor summarize_dictionary(const at::Tensor& dictionary, const at::Tensor& codes, const std::optional<at::Tensor>& validity) {
  return summarize_any(dictionary, codes.const_data_ptr<int32_t>(), validity, codes.numel());
}

}  // namespace

REGISTER_BODY(Cpu, "summarize", summarize);
REGISTER_BODY(Cpu, "summarize_dictionary", summarize_dictionary);

}  // namespace pistachio::kernels::cpu
