#include "exec/operators/distinct_sketch_state.h"

#include <gtest/gtest.h>

#include <cmath>

#include "exec/operators/group_states.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {
namespace {

AggregateCall sketch_call() {
  AggregateCall call;
  call.function = find_aggregate("approx_count_distinct");
  call.argument = Expression::column(ColumnId{1}, TypeKind::BigInt);
  return call;
}

// Every value of [0, sizes[g]) in group g, three times, in random order.
struct SketchRows {
  at::Tensor ids, values;
};

SketchRows rows_of(const std::vector<int64_t>& sizes) {
  std::vector<at::Tensor> ids, values;
  for (size_t group = 0; group < sizes.size(); ++group) {
    values.push_back(at::arange(3 * sizes[group], at::kLong).remainder(std::max<int64_t>(1, sizes[group])));
    ids.push_back(at::full({3 * sizes[group]}, static_cast<int64_t>(group), at::kLong));
  }
  const at::Tensor all_ids = kernels::concatenate_tensors(ids), all_values = kernels::concatenate_tensors(values), order = at::randperm(all_ids.numel(), at::kLong);
  return {all_ids.index_select(0, order), all_values.index_select(0, order)};
}

void add_in_steps(DistinctSketchState& state, const SketchRows& rows, int64_t step) {
  for (int64_t begin = 0; begin < rows.ids.numel(); begin += step) {
    const Column values = Column::fixed(TypeKind::BigInt, rows.values.slice(0, begin, begin + step));
    state.update({.ids = rows.ids.slice(0, begin, begin + step), .argument = &values});
  }
}

std::vector<int64_t> results_of(const DistinctSketchState& state, int64_t groups) {
  const at::Tensor counts = state.finish(sketch_call(), groups).values().contiguous();
  return {counts.const_data_ptr<int64_t>(), counts.const_data_ptr<int64_t>() + groups};
}

const std::vector<int64_t> kSizes = {0, 1, 63, 64, 65, 66, 1000, 5000, 20'000, 100'000};

TEST(DistinctSketchState, CountsFewValuesExactlyAndEstimatesMany) {
  DistinctSketchState state(at::kCPU);
  state.set_groups(static_cast<int64_t>(kSizes.size()));
  add_in_steps(state, rows_of(kSizes), 10'000);
  const std::vector<int64_t> counts = results_of(state, static_cast<int64_t>(kSizes.size()));
  for (size_t i = 0; i < kSizes.size(); ++i) {
    const double error = kSizes[i] <= 64 ? 0 : 0.05;
    EXPECT_LE(std::abs(static_cast<double>(counts[i] - kSizes[i])), error * static_cast<double>(kSizes[i])) << kSizes[i];
  }
}

TEST(DistinctSketchState, DependsOnTheSetOfValuesOnly) {
  const auto groups = static_cast<int64_t>(kSizes.size());
  DistinctSketchState reference(at::kCPU);
  reference.set_groups(groups);
  add_in_steps(reference, rows_of(kSizes), 1 << 30);
  const std::vector<int64_t> expected = results_of(reference, groups);
  for (int64_t step : {int64_t{777}, int64_t{50'000}}) {
    SCOPED_TRACE(step);
    const SketchRows rows = rows_of(kSizes);
    const int64_t middle = rows.ids.numel() / 3;
    DistinctSketchState first(at::kCPU), second(at::kCPU), merged(at::kCPU);
    for (DistinctSketchState* state : {&first, &second, &merged}) state->set_groups(groups);
    add_in_steps(first, {rows.ids.slice(0, 0, middle), rows.values.slice(0, 0, middle)}, step);
    add_in_steps(second, {rows.ids.slice(0, middle), rows.values.slice(0, middle)}, step);
    // The states of both arrive in one batch, every group twice, and once more.
    for (const DistinctSketchState* state : {&first, &second, &first}) {
      const at::Tensor some = at::randperm(groups, at::kLong);
      merged.add(some, state->columns_of(some));
      merged.add(kernels::concatenate_tensors({some, some}), state->columns_of(kernels::concatenate_tensors({some, some})));
    }
    EXPECT_EQ(results_of(merged, groups), expected);
    add_in_steps(first, rows, step);
    EXPECT_EQ(results_of(first, groups), expected);
  }
}

TEST(DistinctSketchState, ManySmallGroupsTakeLittleMemory) {
  constexpr int64_t kGroupCount = 100'000;
  DistinctSketchState state(at::kCPU);
  state.set_groups(kGroupCount);
  const at::Tensor ids = at::arange(3 * kGroupCount, at::kLong).remainder(kGroupCount);
  const Column values = Column::fixed(TypeKind::BigInt, at::arange(3 * kGroupCount, at::kLong));
  state.update({.ids = ids, .argument = &values});
  EXPECT_EQ(results_of(state, kGroupCount), std::vector<int64_t>(kGroupCount, 3));
  EXPECT_LT(state.memory_bytes(), 400 * kGroupCount);
}

}  // namespace
}  // namespace pistachio
