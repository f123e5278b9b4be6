// CPU bodies of compare_columns and compare_text_columns.
#include "base/check.h"
#include "kernels/cpu/compare_columns_simd.h"
#include "kernels/cpu/text_key.h"
#include "kernels/cpu/value_kind_of.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/comparison.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

namespace {

// A comparison reduced to one of the two tests: sides swapped, result negated.
struct TestOfSides {
  PairTest test;
  bool swapped;
  bool negated;
};

TestOfSides test_of(int64_t comparison) {
  switch (static_cast<Comparison>(comparison)) {
    case Comparison::Equal: return {PairTest::Equal, false, false};
    case Comparison::NotEqual: return {PairTest::Equal, false, true};
    case Comparison::Less: return {PairTest::Less, false, false};
    case Comparison::LessEqual: return {PairTest::Less, true, true};
    case Comparison::Greater: return {PairTest::Less, true, false};
    case Comparison::GreaterEqual: return {PairTest::Less, false, true};
  }
  ENSURE(false, "comparison {}", comparison);
}

at::Tensor compare_columns(const at::Tensor& left, int64_t comparison, const at::Tensor& right) {
  const auto [test, swapped, negated] = test_of(comparison);
  const at::Tensor& first = swapped ? right : left;
  const at::Tensor& second = swapped ? left : right;
  at::Tensor result = at::empty({left.size(0)}, at::kBool);
  uint8_t* out = reinterpret_cast<uint8_t*>(result.mutable_data_ptr<bool>());
  if (is_wide(left)) {
    compare_wide_pairs(first.const_data_ptr<int64_t>(), second.const_data_ptr<int64_t>(), left.size(0), test, negated, out);
  } else {
    compare_pairs(value_kind_of(left), first.const_data_ptr(), second.const_data_ptr(), left.size(0), test, negated, out);
  }
  return result;
}

struct TextColumn {
  TextColumn(const at::Tensor& bytes, const at::Tensor& begin_words, const at::Tensor& end_words)
      : data(bytes.const_data_ptr<uint8_t>()),
        data_end(data + bytes.numel()),
        begins(begin_words.const_data_ptr<int64_t>()),
        ends(end_words.const_data_ptr<int64_t>()) {}

  TextSpan operator[](int64_t row) const { return {data + begins[row], ends[row] - begins[row]}; }

  const uint8_t* data;
  const uint8_t* data_end;
  const int64_t* begins;
  const int64_t* ends;
};

bool is_equal(const TextColumn& left, const TextColumn& right, int64_t row) {
  const TextSpan first = left[row], second = right[row];
  return first.length == second.length && equal_bytes(first.data, second.data, first.length);
}

bool is_less(const TextColumn& left, const TextColumn& right, int64_t row) {
  const TextSpan first = left[row], second = right[row];
  const uint64_t first_key = text_key(first, left.data_end), second_key = text_key(second, right.data_end);
  return first_key != second_key ? first_key < second_key : compare_text(first, second) < 0;
}

at::Tensor compare_text_columns(const at::Tensor& left_bytes, const at::Tensor& left_begins, const at::Tensor& left_ends,
                                int64_t comparison, const at::Tensor& right_bytes, const at::Tensor& right_begins,
                                const at::Tensor& right_ends) {
  const auto [test, swapped, negated] = test_of(comparison);
  const TextColumn left(left_bytes, left_begins, left_ends), right(right_bytes, right_begins, right_ends);
  const TextColumn& first = swapped ? right : left;
  const TextColumn& second = swapped ? left : right;
  const int64_t rows = left_begins.numel();
  at::Tensor result = at::empty({rows}, at::kBool);
  bool* out = result.mutable_data_ptr<bool>();
  if (test == PairTest::Equal) {
    for (int64_t row = 0; row < rows; ++row) out[row] = is_equal(first, second, row) != negated;
  } else {
    for (int64_t row = 0; row < rows; ++row) out[row] = is_less(first, second, row) != negated;
  }
  return result;
}

}  // namespace

REGISTER_BODY(Cpu, "compare_columns", compare_columns);
REGISTER_BODY(Cpu, "compare_text_columns", compare_text_columns);

}  // namespace pistachio::kernels::cpu
