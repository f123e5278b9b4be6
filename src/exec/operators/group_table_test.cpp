#include "exec/operators/group_table.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {
namespace {

// More rows than are assigned between two looks at the token.
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
