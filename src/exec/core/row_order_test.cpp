#include "exec/core/row_order.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "exec/core/growing_column.h"
#include "exec/core/held_chunks.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {
namespace {

// More rows than one strip, so that the sort polls in between.
constexpr int64_t kRows = (int64_t{1} << 22) + 999;

Chunk many_rows() {
  at::Tensor numbers = at::arange(kRows, at::kLong).mul_(7'919).remainder_(kRows).to(at::kInt);
  return Chunk({Column::fixed(TypeKind::Integer, numbers, numbers.remainder(1'000'003).ne(0))}, kRows);
}

RowOrder descending_order() {
  SortKey key;
  key.expression = Expression::column({0}, TypeKind::Integer);
  key.descending = true;
  key.nulls_first = false;
  return RowOrder({key}, {{0}});
}

TEST(RowOrder, StripsOfWordsAgreeWithStockSort) {
  Chunk rows = many_rows();
  at::Tensor order = descending_order().order_of(rows);
  const Column& column = rows.column(0);
  at::Tensor keys = column.values().to(at::kLong).masked_fill(column.validity().logical_not(), -1);
  EXPECT_TRUE(at::equal(order, std::get<1>(at::sort(keys, /*stable=*/true, /*dim=*/0, /*descending=*/true))));
}

TEST(RowOrder, StopsWhenCancelled) {
  CancelSource source;
  source.cancel("enough");
  try {
    descending_order().order_of(many_rows(), source.token());
    ADD_FAILURE() << "not stopped";
  } catch (const Cancelled& cancelled) {
    EXPECT_NE(std::string(cancelled.what()).find("enough"), std::string::npos) << cancelled.what();
  }
}

TEST(GrowingColumn, GrowsBeyondOneStripWithZeros) {
  at::Tensor numbers = at::arange(9'000'000, at::kLong);
  at::Tensor larger = with_room(numbers, 8'999'000, 9'000'001);
  ASSERT_GE(larger.numel(), 9'000'001);
  EXPECT_TRUE(at::equal(larger.narrow(0, 0, 8'999'000), numbers.narrow(0, 0, 8'999'000)));
  EXPECT_FALSE(larger.slice(0, 8'999'000).any().item<bool>());
}

TEST(GrowingColumn, StopsWhenCancelled) {
  CancelSource source;
  source.cancel("enough");
  GrowingColumn column(TypeKind::BigInt, at::kCPU);
  EXPECT_THROW(column.append(Column::fixed(TypeKind::BigInt, at::arange(100, at::kLong)), source.token()), Cancelled);
}

TEST(ConcatenateChunks, StopsWhenCancelled) {
  CancelSource source;
  source.cancel("enough");
  Chunk rows = many_rows();
  EXPECT_THROW(concatenate_chunks({rows, rows}, {TypeKind::Integer}, at::kCPU, source.token()), Cancelled);
}

}  // namespace
}  // namespace pistachio
