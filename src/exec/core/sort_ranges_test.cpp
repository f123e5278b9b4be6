#include "exec/core/sort_ranges.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "exec/core/lane_ranges.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {
namespace {

constexpr int64_t kManyRows = 5000;

Column texts_of(const std::vector<std::string>& values, at::Tensor validity = {}) {
  std::string all;
  std::vector<int64_t> begins, ends;
  for (const std::string& value : values) {
    begins.push_back(static_cast<int64_t>(all.size()));
    all += value;
    ends.push_back(static_cast<int64_t>(all.size()));
  }
  at::Tensor bytes = at::empty({static_cast<int64_t>(all.size())}, at::kByte);
  std::copy(all.begin(), all.end(), bytes.mutable_data_ptr<uint8_t>());
  return Column::text(TypeKind::Varchar, bytes, at::tensor(begins, at::kLong), at::tensor(ends, at::kLong), std::move(validity));
}

SortKey key_of(int32_t column, TypeKind type, bool descending = false, bool nulls_first = false) {
  SortKey key;
  key.expression = Expression::column(ColumnId{column}, type);
  key.descending = descending;
  key.nulls_first = nulls_first;
  return key;
}

// The sizes of the ranges, after checking that the ranges ascend in sorted order.
at::Tensor checked_sizes(const std::vector<SortKey>& keys, const Chunk& rows, int64_t bits) {
  const std::vector<ColumnId> layout = {ColumnId{0}, ColumnId{1}};
  const RowOrder order(keys, layout);
  const Chunk values = order.key_values(rows);
  const SortRanges ranges(keys, values, bits, {});
  // In two strips: their words must be comparable.
  const int64_t middle = rows.rows() / 3;
  at::Tensor words =
      kernels::concatenate_tensors({ranges.radix_words(0, middle, {}), ranges.radix_words(middle, rows.rows() - middle, {})});
  if (bits > 0) words = words.bitwise_right_shift(64 - bits).bitwise_and(ranges.count() - 1);
  const at::Tensor sorted = words.index_select(0, order.order_of(rows));
  EXPECT_TRUE(sorted.slice(0, 1).ge(sorted.slice(0, 0, -1)).all().item<bool>());
  return at::bincount(words, {}, ranges.count());
}

TEST(SortRanges, NumbersWithNullsAreDividedEvenly) {
  const at::Tensor numbers = at::randint(1'000'000, {kManyRows}, at::kLong), others = at::randint(3, {kManyRows}, at::kLong);
  const Chunk rows({Column::fixed(TypeKind::BigInt, others, others.ne(1)), Column::fixed(TypeKind::BigInt, numbers)}, kManyRows);
  for (const bool descending : {false, true}) {
    const at::Tensor sizes = checked_sizes({key_of(0, TypeKind::BigInt, descending, true), key_of(1, TypeKind::BigInt)}, rows, 4);
    EXPECT_LT(sizes.max().item<int64_t>(), 2 * kManyRows / 16);
  }
}

TEST(SortRanges, EqualKeysAreDividedByRowNumbers) {
  const at::Tensor zeros = at::zeros({kManyRows}, at::kLong);
  const Chunk rows({Column::fixed(TypeKind::BigInt, zeros), texts_of(std::vector<std::string>(kManyRows, "equal"))}, kManyRows);
  const at::Tensor sizes = checked_sizes({key_of(0, TypeKind::BigInt), key_of(1, TypeKind::Varchar, true)}, rows, 3);
  EXPECT_LT(sizes.max().item<int64_t>(), 2 * kManyRows / 8);
}

TEST(SortRanges, TextsAreDividedBehindTheirCommonPrefix) {
  std::mt19937_64 random(7);
  std::vector<std::string> values;
  for (int64_t row = 0; row < kManyRows; ++row) values.push_back("Customer#0000" + std::to_string(10'000 + random() % 90'000));
  const at::Tensor numbers = at::arange(kManyRows, at::kLong);
  const Chunk rows({texts_of(values), Column::fixed(TypeKind::BigInt, numbers)}, kManyRows);
  for (const bool descending : {false, true}) {
    const at::Tensor sizes = checked_sizes({key_of(0, TypeKind::Varchar, descending), key_of(1, TypeKind::BigInt, true)}, rows, 4);
    EXPECT_LT(sizes.max().item<int64_t>(), 2 * kManyRows / 16);
  }
}

// Few values do not begin like the sample; some are prefixes of others, have zero bytes, or differ only in their last bytes.
TEST(SortRanges, AwkwardTextsKeepTheirOrder) {
  std::mt19937_64 random(8);
  const std::vector<std::string> tails = {
      "", std::string(1, '\0'), std::string(9, '\0'), "abcdefgh", "abcdefghi", "abcdefghj", "\xff\xff\xff\xff\xff\xff\xff\xff\xff"};
  const std::vector<std::string> strangers = {"", "p", "pre", "prefix", "prefiw", "prefiy", "zz", "\xff"};
  for (int round = 0; round < 20; ++round) {
    std::vector<std::string> values;
    at::Tensor valid = at::rand({kManyRows}).gt(0.1);
    for (int64_t row = 0; row < kManyRows; ++row)
      values.push_back(random() % 500 == 0 ? strangers[random() % strangers.size()] : "prefix" + tails[random() % tails.size()]);
    const at::Tensor numbers = at::randint(4, {kManyRows}, at::kLong);
    const Chunk rows({texts_of(values, round % 2 == 0 ? valid : at::Tensor()), Column::fixed(TypeKind::BigInt, numbers)}, kManyRows);
    checked_sizes({key_of(0, TypeKind::Varchar, round % 4 < 2, round % 3 == 0), key_of(1, TypeKind::BigInt)}, rows, 5);
    checked_sizes({key_of(1, TypeKind::BigInt), key_of(0, TypeKind::Varchar, round % 4 < 2)}, rows, 5);
  }
}

TEST(SortRanges, FewerRowsThanRanges) {
  const Chunk rows({Column::fixed(TypeKind::BigInt, at::tensor({5, 3, 4}, at::kLong)), texts_of({"b", "", "a"})}, 3);
  for (int64_t bits = 0; bits < 6; ++bits)
    EXPECT_EQ(checked_sizes({key_of(0, TypeKind::BigInt), key_of(1, TypeKind::Varchar)}, rows, bits).sum().item<int64_t>(), 3);
}

TEST(LaneRanges, PartsOfAllRangesFollowEachOther) {
  std::vector<at::Tensor> places = {at::tensor({1, 0, 2}, at::kLong), at::tensor({2, 3, 0}, at::kLong)};
  EXPECT_TRUE(at::equal(place_parts(places), at::tensor({3, 6, 8}, at::kLong)));
  EXPECT_TRUE(at::equal(places[0], at::tensor({0, 3, 6}, at::kLong)));
  EXPECT_TRUE(at::equal(places[1], at::tensor({1, 3, 8}, at::kLong)));
}

}  // namespace
}  // namespace pistachio
