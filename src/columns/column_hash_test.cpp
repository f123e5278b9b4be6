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

// 5,000 entries; the codes run through them from `first` on.
Column coded_text(int64_t first, int64_t rows, const std::shared_ptr<const Column>& entries) {
  return Column::dictionary(at::arange(first, first + rows, at::kLong).remainder(entries->rows()).to(at::kInt), entries);
}

TEST(ColumnHash, EntriesAreHashedOnceTheyPay) {
  const at::Tensor numbers = at::arange(5'000, at::kLong);
  const auto entries =
      std::make_shared<const Column>(Column::text(TypeKind::Varchar, numbers.view(at::kByte), numbers * 8, numbers * 8 + 8));
  const at::Tensor expected = hash_rows({*entries});
  const int64_t bytes = entries->memory_bytes();
  for (int64_t first = 0; first < 2'000; first += 1'000) {
    EXPECT_TRUE(at::equal(hash_rows({coded_text(first, 1'000, entries)}), expected.narrow(0, first, 1'000)));
    EXPECT_FALSE(entries->entry_hashes().get().defined());
  }
  EXPECT_TRUE(at::equal(hash_rows({coded_text(2'000, 1'000, entries)}), expected.narrow(0, 2'000, 1'000)));
  EXPECT_TRUE(at::equal(entries->entry_hashes().get(), expected));
  EXPECT_EQ(entries->memory_bytes(), bytes + 5'000 * 8);
  EXPECT_TRUE(at::equal(hash_rows({coded_text(10, 20, entries)}), expected.narrow(0, 10, 20)));
  // A part of the column is another dictionary.
  EXPECT_FALSE(entries->slice(1, 10).entry_hashes().get().defined());
}

TEST(ColumnHash, StopsWhenCancelled) {
  CancelSource source;
  source.cancel("enough");
  EXPECT_THROW(hash_rows(many_keys(), source.token()), Cancelled);
}

}  // namespace
}  // namespace pistachio
