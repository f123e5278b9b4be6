// pack_words and unpack_words on every body: rows are the words of the columns, and converting them back yields the columns.
#include "kernels/ops/pack_words.h"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <map>

#include "base/error.h"
#include "kernels/ops/hash64.h"
#include "kernels/ops/kernel_mode.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels {
namespace {

constexpr at::ScalarType value_types[] = {at::kBool, at::kByte, at::kChar, at::kShort, at::kInt, at::kLong, at::kFloat, at::kDouble};

at::Tensor random_values(at::ScalarType type, int64_t rows) {
  if (type == at::kBool) return at::randint(2, {rows}, at::kLong).to(type);
  if (at::isFloatingType(type)) return at::randint(-1000, 1000, {rows}, at::kLong).to(type) / 8;
  if (type == at::kByte) return at::randint(256, {rows}, at::kLong).to(type);
  if (type == at::kLong) return at::randint(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max(), {rows}, at::kLong);
  return at::randint(-128, 128, {rows}, at::kLong).to(type);
}

class PackWords : public testing::TestWithParam<KernelMode> {
 protected:
  static WordColumn description_of(const at::Tensor& column) { return {column.scalar_type(), column.dim() == 2}; }

  // The columns of the rows, in any number of pieces, are those that were packed, in the order of their parts.
  static void expect_round_trip(const std::vector<at::Tensor>& columns, const WordLayout& layout, int64_t bits) {
    const auto [rows, offsets] = pack_words(columns, layout, bits);
    const int64_t count = columns[0].size(0);
    ASSERT_EQ(rows.size(0), count);
    at::Tensor hashes = hash64(columns[0]);
    for (int64_t i = 1; i < layout.keys; ++i) hashes = hash64_combine(hashes, hash64(columns[static_cast<size_t>(i)]));
    const at::Tensor parts = hashes.bitwise_and((int64_t{1} << bits) - 1);
    const at::Tensor order = parts.argsort(/*stable=*/true, 0, false);
    EXPECT_TRUE(at::equal(offsets.slice(0, 1), at::bincount(parts, {}, int64_t{1} << bits).cumsum(0)));
    EXPECT_EQ(offsets[0].item<int64_t>(), 0);
    for (int64_t i = 0; i < std::min<int64_t>(count, 100); ++i) {
      const auto hash = static_cast<uint64_t>(hashes[order[i].item<int64_t>()].item<int64_t>());
      EXPECT_EQ(std::bit_cast<uint64_t>(rows[i][0].item<int64_t>()), std::rotl(hash, static_cast<int>(layout.turn)));
    }
    std::vector<WordColumn> descriptions;
    for (const at::Tensor& column : columns) descriptions.push_back(description_of(column));
    const std::vector<at::Tensor> pieces = {rows.slice(0, 0, count / 3), rows.slice(0, count / 3, count / 3), rows.slice(0, count / 3)};
    const std::vector<at::Tensor> back = unpack_words(pieces, descriptions, layout);
    ASSERT_EQ(back.size(), columns.size());
    for (size_t i = 0; i < columns.size(); ++i) {
      EXPECT_EQ(back[i].scalar_type(), columns[i].scalar_type());
      EXPECT_TRUE(at::equal(back[i], columns[i].index_select(0, order))) << "column " << i;
    }
  }

 private:
  KernelModeGuard mode_{GetParam()};
};

TEST_P(PackWords, EveryTypeComesBack) {
  for (const at::ScalarType key : value_types) {
    for (const at::ScalarType state : value_types) {
      for (const int64_t rows : {0, 1, 511, 513, 3000}) {
        SCOPED_TRACE(testing::Message() << c10::toString(key) << " " << c10::toString(state) << ", " << rows << " rows");
        expect_round_trip({random_values(key, rows), random_values(state, rows)}, {.keys = 1, .keep_key = true, .turn = 3}, 2);
        if (!at::isFloatingType(key))
          expect_round_trip({random_values(key, rows), random_values(state, rows)}, {.keys = 1, .keep_key = false, .turn = 3}, 0);
      }
    }
  }
}

TEST_P(PackWords, SeveralKeysAndWideValuesComeBack) {
  const int64_t rows = 2000;
  const at::Tensor wide = at::stack({random_values(at::kLong, rows), random_values(at::kLong, rows)}, 1);
  const std::vector<at::Tensor> columns = {random_values(at::kInt, rows), wide, random_values(at::kDouble, rows), wide.add(1),
                                           random_values(at::kShort, rows)};
  for (int64_t keys = 1; keys <= 5; ++keys) {
    for (const int64_t turn : {0, 1, 63}) {
      for (const int64_t bits : {0, 1, 6, 12}) expect_round_trip(columns, {.keys = keys, .keep_key = true, .turn = turn}, bits);
    }
  }
}

TEST_P(PackWords, HashAloneDeterminesEveryInteger) {
  const int64_t least = std::numeric_limits<int64_t>::min(), most = std::numeric_limits<int64_t>::max();
  const at::Tensor keys = at::tensor({least, least + 1, int64_t{-1}, int64_t{0}, int64_t{1}, most}, at::kLong);
  const WordLayout layout{.keys = 1, .keep_key = false, .turn = 5};
  const auto [rows, offsets] = pack_words({keys}, layout, 0);
  EXPECT_EQ(rows.sizes(), (at::IntArrayRef{6, 1}));
  EXPECT_TRUE(at::equal(unpack_words({rows}, {{at::kLong, false}}, layout)[0], keys));
}

TEST_P(PackWords, TakesStridedColumns) {
  const at::Tensor table = at::arange(64, at::kLong).view({16, 4});
  expect_round_trip({table.select(1, 1), table.slice(1, 1, 3), table.slice(0, 0, 16, 1).select(1, 3)}, {.keys = 2}, 1);
}

TEST_P(PackWords, RefusesWrongArguments) {
  const at::Tensor keys = at::zeros({3}, at::kLong), doubles = at::zeros({3}, at::kDouble), wide = at::zeros({3, 2}, at::kLong);
  EXPECT_THROW(pack_words({keys}, {.keys = 0}, 0), InternalError);
  EXPECT_THROW(pack_words({keys}, {.keys = 2}, 0), InternalError);
  EXPECT_THROW(pack_words({keys, at::zeros({4}, at::kLong)}, {}, 0), InternalError);
  EXPECT_THROW(pack_words({doubles}, {.keep_key = false}, 0), InternalError);
  EXPECT_THROW(pack_words({wide}, {.keep_key = false}, 0), InternalError);
  EXPECT_THROW(pack_words({keys, keys}, {.keys = 2, .keep_key = false}, 0), InternalError);
  EXPECT_THROW(pack_words({keys}, {.turn = 64}, 0), InternalError);
  EXPECT_THROW(pack_words({keys}, {}, 13), InternalError);
  EXPECT_THROW(unpack_words({}, {{at::kLong, false}}, {}), InternalError);
  EXPECT_THROW(unpack_words({wide}, {{at::kLong, true}}, {}), InternalError);
  EXPECT_THROW(unpack_words({doubles.unsqueeze(1)}, {{at::kLong, false}}, {.keep_key = false}), InternalError);
}

INSTANTIATE_TEST_SUITE_P(Bodies, PackWords, testing::Values(KernelMode::Tuned, KernelMode::Composite),
                         [](const auto& mode) { return mode.param == KernelMode::Tuned ? "Tuned" : "Composite"; });

}  // namespace
}  // namespace pistachio::kernels
