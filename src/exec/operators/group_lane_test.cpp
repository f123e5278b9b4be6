#include "exec/operators/group_lane.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <tuple>

#include "expr/aggregate_function.h"
#include "kernels/ops/tensor_functions.h"
#include "memory/memory_governor.h"

namespace pistachio {
namespace {

constexpr ColumnId kNumber{1}, kText{2}, kArgument{3};

AggregateCall call_of(const char* name) {
  const ExpressionPtr argument = Expression::column(kArgument, TypeKind::BigInt);
  return AggregateCall{.function = find_aggregate(name), .argument = argument, .type = TypeKind::BigInt};
}

// Numbers and texts as keys; both are NULL for some rows.
struct Rows {
  std::vector<Column> columns;
  int64_t count;
};

Rows rows_of(std::mt19937_64& random, int64_t count, int64_t keys) {
  at::Tensor numbers = at::empty({count}, at::kLong), arguments = at::empty({count}, at::kLong), valid = at::empty({count}, at::kBool);
  for (int64_t row = 0; row < count; ++row) {
    const auto key = static_cast<int64_t>(random() % static_cast<uint64_t>(keys));
    numbers.mutable_data_ptr<int64_t>()[row] = key;
    valid.mutable_data_ptr<bool>()[row] = key % 5 != 3;
    arguments.mutable_data_ptr<int64_t>()[row] = static_cast<int64_t>(random() % 1000) - 300;
  }
  const at::Tensor begins = at::arange(count, at::kLong) * 8;
  const at::Tensor ends = begins + numbers.remainder(9);  // of different lengths
  Column texts = Column::text(TypeKind::Varchar, numbers.view(at::kByte), begins, ends, valid);
  const Column argument = Column::fixed(TypeKind::BigInt, arguments);
  return {{Column::fixed(TypeKind::BigInt, numbers, valid), texts, argument, argument}, count};  // as AggregateInputs orders them
}

using Sums = std::map<std::tuple<bool, int64_t>, std::tuple<int64_t, int64_t>>;

void add_results(const GroupStates& groups, const GroupingPlan& plan, Sums& sums) {
  const std::vector<Column> keys = groups.keys();
  const Column counts = groups.states()[0]->finish(plan.calls[0], groups.groups());
  const Column most = groups.states()[1]->finish(plan.calls[1], groups.groups());
  for (int64_t group = 0; group < groups.groups(); ++group) {
    const bool is_valid = !keys[0].has_validity() || keys[0].validity().const_data_ptr<bool>()[group];
    const int64_t number = is_valid ? keys[0].values().const_data_ptr<int64_t>()[group] : 0;
    const std::tuple results(counts.values().const_data_ptr<int64_t>()[group], most.values().const_data_ptr<int64_t>()[group]);
    const bool is_new = sums.try_emplace({is_valid, number}, results).second;
    EXPECT_TRUE(is_new) << "the group of " << number << " occurs twice";
  }
}

GroupingPlan plan_of(int64_t table_limit, int64_t condense_bytes = 1 << 30) {
  std::vector<LogicalType> types = {TypeKind::BigInt, TypeKind::Varchar};
  GroupingPlan plan{types, {call_of("count"), call_of("max")}, AggregateInputs({kNumber, kText}, types), false, at::kCPU, table_limit};
  for (const AggregateCall& call : plan.calls) plan.inputs.add_call(call);
  plan.condense_bytes = condense_bytes;
  return plan;
}

Sums group(int64_t table_limit, int64_t keys, int64_t condense_bytes = 1 << 30, int64_t batch_bytes = INT64_MAX) {
  MemoryGovernor governor(int64_t{1} << 32);
  GroupingPlan plan = plan_of(table_limit, condense_bytes);
  plan.batch_bytes = batch_bytes;
  std::mt19937_64 random(17);
  GroupLane first(plan, governor.process_account()), second(plan, governor.process_account());
  for (int chunk = 0; chunk < 6; ++chunk) {
    const Rows rows = rows_of(random, 1 + static_cast<int64_t>(random() % 30'000), keys);
    (chunk % 3 == 0 ? first : second).add(rows.columns, rows.count, {}, {});
  }
  Sums sums;
  EXPECT_EQ(first.has_passed_on() && second.has_passed_on(), keys > 5 * table_limit);
  first.close({});
  second.close({});
  const std::vector<const GroupLane*> lanes = {&first, &second};
  const int64_t bits = radix_bits(plan, lanes);
  for (int64_t partition = 0; partition < int64_t{1} << bits; ++partition)
    add_results(group_partition(plan, lanes, partition, bits, {}).group_states(), plan, sums);
  return sums;
}

TEST(GroupLane, PartitionsHaveTheGroupsOfOneTable) {
  for (int64_t keys : {7, 3'000, 50'000, 5'000'000}) {
    SCOPED_TRACE(keys);
    const Sums expected = group(int64_t{1} << 30, keys);
    for (int64_t limit : {1, 500, 2'000}) EXPECT_EQ(group(limit, keys), expected) << "with tables of " << limit << " groups";
  }
}

TEST(GroupLane, SmallBatchesKeepTheGroups) {
  const Sums expected = group(int64_t{1} << 30, 50'000);
  for (int64_t bytes : {1, 20'000, 3'000'000}) EXPECT_EQ(group(500, 50'000, 1 << 30, bytes), expected) << bytes << " bytes";
}

TEST(GroupLane, CondensingKeepsTheGroups) {
  for (int64_t keys : {7, 3'000, 5'000'000}) {
    const Sums expected = group(int64_t{1} << 30, keys);
    EXPECT_EQ(group(1, keys, 1), expected) << keys << " keys";
    EXPECT_EQ(group(1, keys, 300'000), expected) << keys << " keys";
  }
}

TEST(GroupLane, ManyRowsOfFewGroupsTakeLittleMemory) {
  MemoryGovernor governor(int64_t{1} << 32);
  const GroupingPlan plan = plan_of(10, 1 << 20);
  GroupLane lane(plan, governor.process_account());
  std::mt19937_64 random(5);
  for (int chunk = 0; chunk < 50; ++chunk) {
    const Rows rows = rows_of(random, 10'000, 1'000);
    lane.add(rows.columns, rows.count, {}, {});
    EXPECT_LT(lane.reserved_bytes(), 16 << 20);
  }
}

TEST(GroupLane, StopsWhenCancelled) {
  MemoryGovernor governor(int64_t{1} << 30);
  const GroupingPlan plan = plan_of(10);
  CancelSource source;
  source.cancel("enough");
  GroupLane lane(plan, governor.process_account());
  std::mt19937_64 random(3);
  const Rows rows = rows_of(random, 50'000, 50'000);
  EXPECT_THROW(lane.add(rows.columns, rows.count, {}, source.token()), Cancelled);
}

}  // namespace
}  // namespace pistachio
