#include "exec/operators/group_table.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "columns/column_compare.h"
#include "columns/row_selection.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {
namespace {

// More rows than are assigned between two polls of the token.
constexpr int64_t kRows = (int64_t{1} << 20) * 2 + 4321;
constexpr int64_t kGroups = 300'007;

// Texts of 8 bytes and numbers; some numbers are NULL.
std::vector<Column> keys_of(const at::Tensor& numbers) {
  at::Tensor begins = at::arange(numbers.numel(), at::kLong) * 8;
  return {Column::text(TypeKind::Varchar, numbers.contiguous().view(at::kByte), begins, begins + 8),
          Column::fixed(TypeKind::BigInt, numbers, numbers.remainder(5).ne(0))};
}

TEST(GroupTable, ManyRowsGetTheGroupsOfTheirKeys) {
  at::Tensor numbers = at::arange(kRows, at::kLong).remainder(kGroups);
  GroupTable table({TypeKind::Varchar, TypeKind::BigInt}, at::kCPU);
  at::Tensor ids = table.assign(keys_of(numbers), kRows);
  // In order of first occurrence, number and group are the same.
  EXPECT_TRUE(at::equal(ids, numbers));
  EXPECT_EQ(table.groups(), kGroups);
  EXPECT_TRUE(at::equal(table.keys()[1].values().masked_select(table.keys()[1].validity()),
                        at::arange(kGroups, at::kLong).masked_select(table.keys()[1].validity())));
}

TEST(GroupTable, StopsWhenCancelled) {
  CancelSource source;
  source.cancel("enough");
  GroupTable table({TypeKind::Varchar, TypeKind::BigInt}, at::kCPU);
  EXPECT_THROW(table.assign(keys_of(at::arange(kRows, at::kLong)), kRows, source.token()), Cancelled);
}

// Keys with few combinations are looked up by array index: coded text, numbers of a small range and booleans, with NULLs.
TEST(GroupTable, FewCombinationsAreTheSameGroupsAsManyRows) {
  constexpr int64_t rows = 10'000;
  const at::Tensor row = at::arange(rows, at::kLong);
  const at::Tensor numbers = row.remainder(7) - 3;
  const at::Tensor text_begins = at::tensor(std::vector<int64_t>{0, 1, 2, 0});
  // The last entry equals the first one.
  const auto entries = std::make_shared<const Column>(
      Column::text(TypeKind::Varchar, at::tensor(std::vector<int64_t>{'a', 'b', 'c'}).to(at::kByte), text_begins, text_begins + 1));
  const std::vector<Column> keys = {Column::dictionary(row.remainder(4).to(at::kInt), entries, row.remainder(11).ne(0)),
                                    Column::fixed(TypeKind::BigInt, numbers, row.remainder(13).ne(0)),
                                    Column::fixed(TypeKind::Boolean, row.remainder(2).eq(0))};
  const std::vector<LogicalType> types = {TypeKind::Varchar, TypeKind::BigInt, TypeKind::Boolean};
  GroupTable by_place(types, at::kCPU);
  GroupTable by_hash(types, at::kCPU);
  const at::Tensor ids = by_place.assign(keys, rows);
  // Batches of 100 rows are too small for that, and are hashed.
  std::vector<at::Tensor> parts;
  for (int64_t begin = 0; begin < rows; begin += 100) {
    std::vector<Column> part;
    for (const Column& key : keys) part.push_back(key.slice(begin, 100));
    parts.push_back(by_hash.assign(part, 100));
  }
  const at::Tensor expected = kernels::concatenate_tensors(parts);
  EXPECT_EQ(by_place.groups(), by_hash.groups());
  EXPECT_EQ(by_place.groups(), (3 + 3) * 8);  // even rows have a, c or NULL, odd ones b, a or NULL
  // Both group the same rows together; group ids may differ.
  std::vector<int64_t> group_of(static_cast<size_t>(by_hash.groups()), -1);
  for (int64_t i = 0; i < rows; ++i) {
    int64_t& group = group_of[static_cast<size_t>(expected[i].item<int64_t>())];
    if (group < 0) group = ids[i].item<int64_t>();
    ASSERT_EQ(group, ids[i].item<int64_t>()) << "row " << i;
  }
  // And the keys of each group are those of its rows.
  EXPECT_TRUE(same_rows(take_rows(by_place.keys()[0], ids), keys[0]).all().item<bool>());
  EXPECT_TRUE(same_rows(take_rows(by_place.keys()[1], ids), keys[1]).all().item<bool>());
  EXPECT_TRUE(same_rows(take_rows(by_place.keys()[2], ids), keys[2]).all().item<bool>());
}

TEST(GroupTable, BatchesWithOtherRangesShareGroups) {
  GroupTable table({TypeKind::BigInt}, at::kCPU);
  const auto assign = [&](const at::Tensor& numbers) { return table.assign({Column::fixed(TypeKind::BigInt, numbers)}, numbers.numel()); };
  const at::Tensor first = assign(at::arange(1'000, at::kLong).remainder(10));
  const at::Tensor second = assign(at::arange(1'000, at::kLong).remainder(10) + 5);
  const at::Tensor sparse = assign(at::arange(1'000, at::kLong).remainder(10) * 1'000'000);
  EXPECT_EQ(table.groups(), 24);
  EXPECT_TRUE(at::equal(first.slice(0, 5, 10), second.slice(0, 0, 5)));
  EXPECT_EQ(sparse[0].item<int64_t>(), first[0].item<int64_t>());
}

// A batch of few rows can still make the table grow.
TEST(GroupTable, StopsWhileGrowing) {
  CancelSource source;
  GroupTable table({TypeKind::BigInt}, at::kCPU);
  table.assign({Column::fixed(TypeKind::BigInt, at::arange(500, at::kLong))}, 500, source.token());
  source.cancel("enough");
  EXPECT_THROW(table.assign({Column::fixed(TypeKind::BigInt, at::arange(5'000, at::kLong))}, 5'000, source.token()), Cancelled);
}

}  // namespace
}  // namespace pistachio
