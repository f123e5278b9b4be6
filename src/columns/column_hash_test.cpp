#include "columns/column_hash.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {
namespace {

// More rows than are hashed between two polls of the token.
constexpr int64_t kRows = (int64_t{1} << 21) + 4321;

std::vector<Column> many_keys() {
  at::Tensor numbers = at::arange(kRows, at::kLong);
  at::Tensor bytes = numbers.view(at::kByte);
  return {Column::fixed(TypeKind::BigInt, numbers, numbers.remainder(7).ne(0)),
          Column::text(TypeKind::Varchar, bytes, numbers * 8, numbers * 8 + 8)};
}

TEST(ColumnHash, StripsAgreeWithSlices) {
  std::vector<Column> keys = many_keys();
  at::Tensor all = hash_rows(keys);
  ASSERT_EQ(all.numel(), kRows);
  for (int64_t begin : {int64_t{0}, (int64_t{1} << 21) - 10, kRows - 100}) {
    std::vector<Column> part = {keys[0].slice(begin, 100), keys[1].slice(begin, 100)};
    EXPECT_TRUE(at::equal(all.narrow(0, begin, 100), hash_rows(part)));
  }
}

TEST(ColumnHash, StopsWhenCancelled) {
  CancelSource source;
  source.cancel("enough");
  EXPECT_THROW(hash_rows(many_keys(), source.token()), Cancelled);
}

}  // namespace
}  // namespace pistachio
