// CPU body of compare_text_constant: lengths decide most equality tests, eight-byte keys most others.

#include <string_view>

#include "base/check.h"
#include "kernels/cpu/text_key.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/comparison.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

namespace {

template <typename Holds>
void compare_order(const at::Tensor& bytes, const int64_t* begins, const int64_t* ends, int64_t rows, TextSpan constant, const Holds& holds,
                   bool* out) {
  const uint8_t* data = bytes.const_data_ptr<uint8_t>();
  const uint8_t* end = data + bytes.numel();
  const uint8_t* constant_end = constant.data + constant.length;
  const uint64_t constant_key = text_key(constant, constant_end), second_constant_key = text_key(constant, constant_end, 8);
  for (int64_t row = 0; row < rows; ++row) {
    const TextSpan value{data + begins[row], ends[row] - begins[row]};
    const uint64_t key = text_key(value, end);
    int order = key < constant_key ? -1 : key > constant_key;
    if (order == 0) {
      const uint64_t second = text_key(value, end, 8);
      order = second < second_constant_key ? -1 : second > second_constant_key;
      if (order == 0) order = compare_text(value, constant);
    }
    out[row] = holds(order);
  }
}

void compare_equality(const at::Tensor& bytes, const int64_t* begins, const int64_t* ends, int64_t rows, TextSpan constant, bool equal_is,
                      bool* out) {
  const uint8_t* data = bytes.const_data_ptr<uint8_t>();
  const uint8_t* end = data + bytes.numel();
  const uint64_t constant_key = text_key(constant, constant.data + constant.length);
  for (int64_t row = 0; row < rows; ++row) {
    bool equal = ends[row] - begins[row] == constant.length;
    if (equal) {
      const TextSpan value{data + begins[row], constant.length};
      equal = constant.length <= 8 ? text_key(value, end) == constant_key : equal_bytes(value.data, constant.data, constant.length);
    }
    out[row] = equal == equal_is;
  }
}

at::Tensor compare_text_constant(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends, int64_t comparison,
                                 std::string_view text) {
  const int64_t rows = begins.numel();
  const int64_t* from = begins.const_data_ptr<int64_t>();
  const int64_t* to = ends.const_data_ptr<int64_t>();
  const TextSpan constant{reinterpret_cast<const uint8_t*>(text.data()), static_cast<int64_t>(text.size())};
  at::Tensor result = at::empty({rows}, at::kBool);
  bool* out = result.mutable_data_ptr<bool>();
  switch (static_cast<Comparison>(comparison)) {
    case Comparison::Equal: compare_equality(bytes, from, to, rows, constant, true, out); break;
    case Comparison::NotEqual: compare_equality(bytes, from, to, rows, constant, false, out); break;
    case Comparison::Less: compare_order(bytes, from, to, rows, constant, [](int order) { return order < 0; }, out); break;
    case Comparison::LessEqual: compare_order(bytes, from, to, rows, constant, [](int order) { return order <= 0; }, out); break;
    case Comparison::Greater: compare_order(bytes, from, to, rows, constant, [](int order) { return order > 0; }, out); break;
    case Comparison::GreaterEqual: compare_order(bytes, from, to, rows, constant, [](int order) { return order >= 0; }, out); break;
    default: ENSURE(false, "comparison {}", comparison);
  }
  return result;
}

}  // namespace

REGISTER_BODY(Cpu, "compare_text_constant", compare_text_constant);

}  // namespace pistachio::kernels::cpu
