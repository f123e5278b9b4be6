// Random calls of the operations behind window functions.
#include <algorithm>

#include "kernels/cpu/kernel_cases.h"
#include "kernels/ops/range_bits.h"
#include "kernels/ops/range_distinct.h"
#include "kernels/ops/range_extreme.h"
#include "kernels/ops/range_moments.h"
#include "kernels/ops/range_search.h"
#include "kernels/ops/range_sum.h"
#include "kernels/ops/segment_bounds.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::kernel_cases {

namespace {

using test_streams::uniform;

// The reference bodies of folds take many passes.
constexpr int64_t kMaxRows = 300'000;

struct RangeDraw {
  at::Tensor begins, ends;
};

// Bounds that move forward as those of frames do, with long and short ranges and some without rows; for few rows sometimes at random.
RangeDraw draw_ranges(Draw& draw, int64_t rows, int64_t count) {
  const int64_t parts = uniform(draw.random, 1, 3);
  const bool at_random = count <= 300 && uniform(draw.random, 0, 2) == 0;
  at::Tensor begins = at::empty({parts, count}, at::kLong), ends = at::empty({parts, count}, at::kLong);
  for (int64_t part = 0; part < parts; ++part) {
    const int64_t widths[] = {0, 1, 7, 300, rows};
    const int64_t width = widths[draw.random() % 5], most_steps = uniform(draw.random, 0, 3);
    int64_t begin = 0, end = 0;
    for (int64_t i = 0; i < count; ++i) {
      if (at_random) {
        begin = uniform(draw.random, 0, rows);
        end = uniform(draw.random, 0, rows);
      } else {
        begin = std::min(rows, begin + uniform(draw.random, 0, most_steps));
        end = std::min(rows, std::max(end, begin + uniform(draw.random, -1, std::min(width, rows))));
      }
      begins.mutable_data_ptr<int64_t>()[part * count + i] = begin;
      ends.mutable_data_ptr<int64_t>()[part * count + i] = std::max<int64_t>(end, 0);
    }
  }
  return {begins.to(draw.device), ends.to(draw.device)};
}

int64_t draw_range_count(Draw& draw) {
  return uniform(draw.random, 0, 1) == 0 ? draw.rows : uniform(draw.random, 0, draw.rows);
}

at::Tensor small_numbers(Draw& draw, int64_t rows, int64_t least, int64_t most) {
  at::Tensor numbers = at::empty({rows}, at::kLong);
  for (int64_t row = 0; row < rows; ++row) numbers.mutable_data_ptr<int64_t>()[row] = uniform(draw.random, least, most);
  return numbers;
}

Call draw_segment_bounds(Draw& draw) {
  const at::Tensor starts = random_mask(draw, draw.rows);
  return [=]() -> std::vector<at::Tensor> {
    auto [begins, ends] = segment_bounds(starts);
    return {begins, ends};
  };
}

// Sums of two-word values may exceed 128 bits, which is an error.
Call draw_range_sum(Draw& draw) {
  draw.rows = std::min(draw.rows, kMaxRows);
  at::Tensor values;
  do values = random_values(draw, draw.rows, true);
  while (values.is_floating_point());
  const at::Tensor validity = optional_mask(draw, draw.rows);
  const RangeDraw ranges = draw_ranges(draw, draw.rows, draw_range_count(draw));
  return [=]() -> std::vector<at::Tensor> { return {range_sum(values, validity, ranges.begins, ranges.ends)}; };
}

Call draw_range_sum_float(Draw& draw) {
  draw.rows = std::min(draw.rows, kMaxRows);
  at::Tensor values;
  do values = random_values(draw, draw.rows, false);
  while (!values.is_floating_point());
  const at::Tensor validity = optional_mask(draw, draw.rows);
  const RangeDraw ranges = draw_ranges(draw, draw.rows, draw_range_count(draw));
  return [=]() -> std::vector<at::Tensor> { return {range_sum_float(values, validity, ranges.begins, ranges.ends)}; };
}

// Positive numbers: a mean near zero has no exact digits.
Call draw_range_moments(Draw& draw) {
  draw.rows = std::min(draw.rows, kMaxRows);
  const at::Tensor values = disguise(draw, small_numbers(draw, draw.rows, 1, 1000).to(uniform(draw.random, 0, 1) == 0 ? at::kFloat : at::kDouble));
  const at::Tensor validity = optional_mask(draw, draw.rows);
  const RangeDraw ranges = draw_ranges(draw, draw.rows, draw_range_count(draw));
  return [=]() -> std::vector<at::Tensor> { return {range_moments(values, validity, ranges.begins, ranges.ends)}; };
}

Call draw_range_extreme(Draw& draw) {
  draw.rows = std::min(draw.rows, kMaxRows);
  const int64_t mosts[] = {5, INT32_MAX, INT64_MAX};
  const int64_t most = mosts[draw.random() % 3];
  const at::Tensor words = disguise(draw, small_numbers(draw, draw.rows, most == INT64_MAX ? INT64_MIN : -5, most));
  const at::Tensor validity = optional_mask(draw, draw.rows);
  const bool take_max = uniform(draw.random, 0, 1) == 1;
  const RangeDraw ranges = draw_ranges(draw, draw.rows, draw_range_count(draw));
  return [=]() -> std::vector<at::Tensor> { return {range_extreme(words, validity, ranges.begins, ranges.ends, take_max)}; };
}

Call draw_range_bits(Draw& draw) {
  draw.rows = std::min(draw.rows, kMaxRows);
  const at::Tensor values = disguise(draw, small_numbers(draw, draw.rows, INT32_MIN, INT32_MAX));
  const at::Tensor validity = optional_mask(draw, draw.rows);
  const BitOp op = static_cast<BitOp>(uniform(draw.random, 0, 2));
  const RangeDraw ranges = draw_ranges(draw, draw.rows, draw_range_count(draw));
  return [=]() -> std::vector<at::Tensor> { return {range_bits(values, validity, ranges.begins, ranges.ends, op)}; };
}

Call draw_range_distinct(Draw& draw) {
  draw.rows = std::min(draw.rows, kMaxRows);
  const int64_t values = uniform(draw.random, 1, 1 + draw.rows / 2);
  const at::Tensor ids = disguise(draw, small_numbers(draw, draw.rows, 0, values - 1)), validity = optional_mask(draw, draw.rows);
  const RangeDraw ranges = draw_ranges(draw, draw.rows, draw_range_count(draw));
  return [=]() -> std::vector<at::Tensor> { return {range_distinct(ids, validity, ranges.begins, ranges.ends, values)}; };
}

Call draw_range_search(Draw& draw) {
  const int64_t most = uniform(draw.random, 1, 2 * draw.rows + 1), count = draw_range_count(draw);
  const at::Tensor keys = std::get<0>(small_numbers(draw, draw.rows, -most, most).sort());
  at::Tensor bounds = small_numbers(draw, count, -most - 3, most + 3);
  if (uniform(draw.random, 0, 2) > 0) bounds = std::get<0>(bounds.sort());
  const RangeDraw ranges = draw_ranges(draw, draw.rows, count);
  const bool after_equal = uniform(draw.random, 0, 1) == 1;
  const at::Tensor sorted = disguise(draw, keys), wanted = disguise(draw, bounds);
  return [=]() -> std::vector<at::Tensor> { return {range_search(sorted, wanted, ranges.begins[0], ranges.ends[0], after_equal)}; };
}

}  // namespace

std::vector<Operation> range_operations() {
  return {{"segment_bounds", draw_segment_bounds, {}}, {"range_sum", draw_range_sum, {}},         {"range_sum_float", draw_range_sum_float, {}},
          {"range_moments", draw_range_moments, {}},   {"range_extreme", draw_range_extreme, {}}, {"range_bits", draw_range_bits, {}},
          {"range_distinct", draw_range_distinct, {}}, {"range_search", draw_range_search, {}}};
}

}  // namespace pistachio::kernels::kernel_cases
