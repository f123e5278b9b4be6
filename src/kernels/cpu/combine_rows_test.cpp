// What combine_rows promises whatever it evicts, on every body: merging by key the rows that leave the table gives what merging the rows
// that entered it would.
#include "kernels/ops/combine_rows.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "base/error.h"
#include "kernels/cpu/test_streams.h"
#include "kernels/ops/int128.h"
#include "kernels/ops/kernel_mode.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels {
namespace {

using Row = std::vector<int64_t>;
using test_streams::Random;

constexpr int64_t lowest = std::numeric_limits<int64_t>::min(), highest = std::numeric_limits<int64_t>::max();

int64_t bits_of(double value) {
  return std::bit_cast<int64_t>(value);
}

at::Tensor to_tensor(const std::vector<Row>& rows, int64_t width) {
  at::Tensor tensor = at::empty({static_cast<int64_t>(rows.size()), width}, at::kLong);
  int64_t* out = tensor.mutable_data_ptr<int64_t>();
  for (const Row& row : rows) out = std::copy(row.begin(), row.end(), out);
  return tensor;
}

std::vector<Row> to_rows(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.contiguous();
  std::vector<Row> rows;
  for (int64_t row = 0; row < flat.size(0); ++row) {
    const int64_t* words = flat.const_data_ptr<int64_t>() + row * flat.size(1);
    rows.emplace_back(words, words + flat.size(1));
  }
  return rows;
}

int64_t width_of(int64_t key_words, const std::vector<MergeOp>& merges) {
  int64_t width = 1 + key_words;
  for (const MergeOp op : merges) width += merge_op_words(op);
  return width;
}

// Doubles as keys of the SQL order: one NaN, above all numbers, and one zero.
double ordered(int64_t bits) {
  const double value = std::bit_cast<double>(bits);
  return std::isnan(value) ? std::numeric_limits<double>::max() : value == 0 ? 0.0 : value;
}

int64_t exact_merge(MergeOp op, int64_t older, int64_t newer) {
  switch (op) {
    case MergeOp::AddInt64: return static_cast<int64_t>(static_cast<uint64_t>(older) + static_cast<uint64_t>(newer));
    case MergeOp::AddDouble: return bits_of(std::bit_cast<double>(older) + std::bit_cast<double>(newer));
    case MergeOp::MinInt64: return std::min(older, newer);
    case MergeOp::MaxInt64: return std::max(older, newer);
    case MergeOp::MinDouble: return ordered(newer) < ordered(older) ? newer : older;
    case MergeOp::MaxDouble: return ordered(newer) > ordered(older) ? newer : older;
    case MergeOp::And: return older & newer;
    case MergeOp::Or: return older | newer;
    case MergeOp::Xor: return older ^ newer;
    default: return older;
  }
}

// The state of each key (hash and key words).
std::map<Row, Row> merge_exactly(const std::vector<Row>& rows, int64_t key_words, const std::vector<MergeOp>& merges) {
  std::map<Row, Row> groups;
  for (const Row& row : rows) {
    const Row key(row.begin(), row.begin() + 1 + key_words), newer(row.begin() + 1 + key_words, row.end());
    const auto [group, is_new] = groups.emplace(key, newer);
    if (is_new) continue;
    size_t word = 0;
    for (const MergeOp op : merges) {
      int64_t* older = group->second.data() + word;
      if (op == MergeOp::AddInt128) {
        const Int128 sum = int128_from_words(older[0], older[1]) + int128_from_words(newer[word], newer[word + 1]);
        older[0] = low_word(sum);
        older[1] = high_word(sum);
      } else if (op == MergeOp::AddMoments) {
        for (const size_t moment : {0, 2}) older[moment] = exact_merge(MergeOp::AddDouble, older[moment], newer[word + moment]);
      } else {
        older[0] = exact_merge(op, older[0], newer[word]);
      }
      word += static_cast<size_t>(merge_op_words(op));
    }
  }
  return groups;
}

class CombineRows : public testing::TestWithParam<KernelMode> {
 protected:
  // Passes the rows through a table in uneven batches and checks what comes out. Returns the number of rows that were merged.
  int64_t expect_exact(const std::vector<Row>& rows, int64_t slots, int64_t key_words, const std::vector<MergeOp>& merges) {
    const int64_t width = width_of(key_words, merges);
    const at::Tensor input = to_tensor(rows, width);
    at::Tensor table = at::zeros({slots, width}, at::kLong);
    std::vector<Row> output;
    int64_t merged = 0;
    for (int64_t begin = 0, size = 1; begin < input.size(0); begin += size, size = size * 3 % 1000 + 1) {
      const at::Tensor batch = input.slice(0, begin, begin + size);
      const auto [evicted, merged_now] = combine_rows(table, batch, key_words, merges);
      EXPECT_LE(evicted.size(0), batch.size(0));
      for (Row& row : to_rows(evicted)) output.push_back(std::move(row));
      merged += merged_now;
    }
    const at::Tensor rest = combine_flush(table);
    EXPECT_LE(rest.size(0), slots);
    for (Row& row : to_rows(rest)) output.push_back(std::move(row));
    EXPECT_EQ(static_cast<int64_t>(output.size()) + merged, static_cast<int64_t>(rows.size()));
    EXPECT_TRUE(merge_exactly(output, key_words, merges) == merge_exactly(rows, key_words, merges));
    EXPECT_EQ(table.select(1, 0).ne(0).sum().item<int64_t>(), 0) << "the table is not empty";
    EXPECT_EQ(combine_flush(table).size(0), 0);
    return merged;
  }

 private:
  KernelModeGuard mode_{GetParam()};
};

uint64_t mixed(uint64_t key) {
  key = (key + 1) * 0x9e3779b97f4a7c15;
  return (key ^ key >> 32) * 0xd6e8feb86659fd93;
}

// `key_of(row)` numbers the keys; states are small integers, or small integers as doubles, whose sums are exact.
template <typename KeyOf>
std::vector<Row> rows_with_keys(int64_t count, int64_t key_words, const std::vector<MergeOp>& merges, const KeyOf& key_of) {
  Random random(11);
  std::vector<Row> rows;
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t key = key_of(i);
    Row row{static_cast<int64_t>(mixed(key))};
    for (int64_t word = 0; word < key_words; ++word) row.push_back(static_cast<int64_t>(key) * (word + 1));
    for (const MergeOp op : merges) {
      const int64_t value = static_cast<int64_t>(random() % 2001) - 1000;
      switch (op) {
        case MergeOp::AddInt128:
          row.push_back(static_cast<int64_t>(random()));
          row.push_back(value);
          break;
        case MergeOp::AddDouble:
        case MergeOp::MinDouble:
        case MergeOp::MaxDouble: row.push_back(bits_of(static_cast<double>(value))); break;
        case MergeOp::AddMoments:
          // The mean is the same in all rows of a key: any order of merging is exact.
          for (const double moment : {std::abs(static_cast<double>(value)) + 1, static_cast<double>(key % 17), 3.0})
            row.push_back(bits_of(moment));
          break;
        default: row.push_back(value);
      }
    }
    rows.push_back(row);
  }
  return rows;
}

std::vector<MergeOp> all_merges() {
  std::vector<MergeOp> all;
  for (int64_t op = 0; op < merge_op_count; ++op) all.push_back(static_cast<MergeOp>(op));
  return all;
}

TEST_P(CombineRows, EveryMergeIsExactAtAnyTableSize) {
  for (const int64_t slots : {2, 8, 128, 4096}) {
    for (const MergeOp op : all_merges()) {
      for (const int64_t key_words : {0, 1, 2}) {
        SCOPED_TRACE(testing::Message() << slots << " slots, merge " << static_cast<int64_t>(op) << ", " << key_words << " key words");
        Random random(5);
        const auto rows = rows_with_keys(3000, key_words, {op}, [&](int64_t) { return random() % 500; });
        const int64_t merged = expect_exact(rows, slots, key_words, {op});
        EXPECT_GT(merged, slots == 4096 ? 2000 : 0);
      }
    }
  }
}

TEST_P(CombineRows, RowsOfUpTo12WordsAreExact) {
  const std::vector<MergeOp> all = all_merges();
  for (int64_t key_words = 0; key_words <= 3; ++key_words) {
    for (size_t first = 0; first < all.size(); ++first) {
      std::vector<MergeOp> merges;
      for (size_t i = first; width_of(key_words, merges) < 11; ++i) {
        SCOPED_TRACE(testing::Message() << key_words << " key words, " << merges.size() << " merges from " << first);
        Random random(i);
        expect_exact(rows_with_keys(700, key_words, merges, [&](int64_t) { return random() % 100; }), 64, key_words, merges);
        merges.push_back(all[i % all.size()]);
      }
    }
  }
}

TEST_P(CombineRows, CommonLayoutsAreExact) {
  const MergeOp count = MergeOp::AddInt64;
  const std::vector<MergeOp> layouts[] = {
      {}, {count}, {count, count}, {MergeOp::AddInt128}, {MergeOp::AddInt128, count}, {MergeOp::AddDouble, count}, {MergeOp::AddMoments}};
  for (const std::vector<MergeOp>& merges : layouts) {
    for (const int64_t key_words : {0, 1, 2}) {
      SCOPED_TRACE(testing::Message() << width_of(key_words, merges) << " words, " << key_words << " of the key");
      Random random(7);
      const auto rows = rows_with_keys(20000, key_words, merges, [&](int64_t) { return random() % 6000; });
      expect_exact(rows, 64, key_words, merges);
      expect_exact(rows, 4096, key_words, merges);
    }
  }
}

TEST_P(CombineRows, EqualKeysMergeIntoOneRow) {
  EXPECT_EQ(expect_exact(rows_with_keys(5000, 1, {MergeOp::AddInt64}, [](int64_t) { return 7; }), 16, 1, {MergeOp::AddInt64}), 4999);
}

TEST_P(CombineRows, DifferentKeysNeverMerge) {
  const auto key_of = [](int64_t row) { return static_cast<uint64_t>(row); };
  EXPECT_EQ(expect_exact(rows_with_keys(5000, 0, {}, key_of), 16, 0, {}), 0);
  EXPECT_EQ(expect_exact(rows_with_keys(5000, 0, {}, key_of), 16384, 0, {}), 0);
}

TEST_P(CombineRows, EqualHashesOfDifferentKeysStayApart) {
  Random random(3);
  for (const int64_t key_words : {1, 2, 3}) {
    std::vector<Row> rows;
    for (int64_t i = 0; i < 2000; ++i) {
      Row row{static_cast<int64_t>(random() % 3)};
      for (int64_t word = 0; word < key_words; ++word) row.push_back(static_cast<int64_t>(random() % 2));
      row.push_back(1);
      rows.push_back(row);
    }
    EXPECT_GT(expect_exact(rows, 8, key_words, {MergeOp::AddInt64}), 0);
  }
}

TEST_P(CombineRows, ExtremeHashesAreOrdinary) {
  const int64_t hashes[] = {0, -1, 1, -2, lowest, highest, 2, 3, lowest + 1};
  Random random(9);
  for (const int64_t slots : {2, 4, 1024}) {
    std::vector<Row> rows;
    for (int64_t i = 0; i < 1000; ++i) rows.push_back({hashes[random() % std::size(hashes)], 1});
    EXPECT_GT(expect_exact(rows, slots, 0, {MergeOp::AddInt64}), 0);
    for (Row& row : rows) row.pop_back();
    EXPECT_GT(expect_exact(rows, slots, 0, {}), 0);
  }
}

TEST_P(CombineRows, EmptyInputChangesNothing) {
  at::Tensor table = at::zeros({8, 2}, at::kLong);
  combine_rows(table, to_tensor({{5, 1}}, 2), 0, {MergeOp::AddInt64});
  const auto [evicted, merged] = combine_rows(table, at::empty({0, 2}, at::kLong), 0, {MergeOp::AddInt64});
  EXPECT_EQ(evicted.sizes(), (at::IntArrayRef{0, 2}));
  EXPECT_EQ(merged, 0);
  EXPECT_EQ(to_rows(combine_flush(table)), (std::vector<Row>{{5, 1}}));
}

TEST_P(CombineRows, SumsCarryPast64Bits) {
  at::Tensor table = at::zeros({2, 3}, at::kLong);
  const std::vector<Row> rows{{4, highest, 0}, {4, highest, 0}, {4, 3, 0}, {-5, lowest, -1}, {-5, lowest, -1}};
  const auto [evicted, merged] = combine_rows(table, to_tensor(rows, 3), 0, {MergeOp::AddInt128});
  EXPECT_EQ(evicted.size(0), 0);
  EXPECT_EQ(merged, 3);
  EXPECT_EQ(to_rows(combine_flush(table)), (std::vector<Row>{{4, 1, 1}, {-5, 0, -1}}));
}

TEST_P(CombineRows, SumsPast128BitsAreErrors) {
  for (const std::vector<MergeOp>& merges : {std::vector{MergeOp::AddInt128}, std::vector{MergeOp::AddInt128, MergeOp::Xor}}) {
    Row large{4, 0, highest}, negative{4, -1, lowest};
    if (merges.size() == 2) large.push_back(0), negative.push_back(0);
    const int64_t width = width_of(0, merges);
    for (const Row& row : {large, negative}) {
      at::Tensor table = at::zeros({2, width}, at::kLong);
      EXPECT_THROW(combine_rows(table, to_tensor({row, row}, width), 0, merges), UserError);
    }
    at::Tensor table = at::zeros({2, width}, at::kLong);
    combine_rows(table, to_tensor({large, negative}, width), 0, merges);
    EXPECT_EQ(to_rows(combine_flush(table))[0][2], -1);
  }
}

TEST_P(CombineRows, MomentsOfRowsAndOfNone) {
  const auto moments = [](double count, double mean, double m2) { return Row{0, bits_of(count), bits_of(mean), bits_of(m2)}; };
  const auto merged = [](const std::vector<Row>& rows) {
    at::Tensor table = at::zeros({2, 4}, at::kLong);
    combine_rows(table, to_tensor(rows, 4), 0, {MergeOp::AddMoments});
    return to_rows(combine_flush(table));
  };
  // Of {1, 3} and {8}: the mean is 4, the squared distances are 9, 1 and 16.
  EXPECT_EQ(merged({moments(2, 2, 2), moments(1, 8, 0)}), (std::vector<Row>{moments(3, 4, 26)}));
  const Row none = moments(0, 0, 0), extreme = moments(2, 1e300, 5);
  EXPECT_EQ(merged({none, none}), (std::vector<Row>{none}));
  EXPECT_EQ(merged({none, extreme}), (std::vector<Row>{extreme}));
  EXPECT_EQ(merged({extreme, none, none}), (std::vector<Row>{extreme}));
}

TEST_P(CombineRows, NanIsTheGreatestNumber) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> orders[] = {{nan, 1.0, infinity}, {infinity, nan, 1.0}, {1.0, infinity, nan}};
  for (const std::vector<double>& values : orders) {
    at::Tensor table = at::zeros({2, 3}, at::kLong);
    for (const double value : values) {
      combine_rows(table, to_tensor({{0, bits_of(value), bits_of(value)}}, 3), 0, {MergeOp::MinDouble, MergeOp::MaxDouble});
    }
    const Row row = to_rows(combine_flush(table)).at(0);
    EXPECT_EQ(row[1], bits_of(1.0));
    EXPECT_TRUE(std::isnan(std::bit_cast<double>(row[2])));
  }
}

// A hash that belongs into a slot of a table of 4.
int64_t hash_in(uint64_t slot, uint64_t rest) {
  return static_cast<int64_t>(slot << 62 | rest);
}

TEST_P(CombineRows, EvictsTheOlderRow) {
  at::Tensor table = at::zeros({4, 2}, at::kLong);
  const int64_t first = hash_in(1, 1), other = hash_in(2, 1), rival = hash_in(1, 2);
  const auto [evicted, merged] =
      combine_rows(table, to_tensor({{first, 10}, {other, 20}, {rival, 50}, {rival, 1}, {first, 11}}, 2), 0, {MergeOp::AddInt64});
  EXPECT_EQ(to_rows(evicted), (std::vector<Row>{{first, 10}, {rival, 51}}));
  EXPECT_EQ(merged, 1);
  EXPECT_EQ(to_rows(combine_flush(table)), (std::vector<Row>{{first, 11}, {other, 20}}));
}

TEST_P(CombineRows, FlushOfSlotsLeavesTheOthers) {
  at::Tensor table = at::zeros({4, 2}, at::kLong);
  const std::vector<Row> rows{{hash_in(0, 7), 1}, {hash_in(1, 7), 2}, {hash_in(2, 7), 3}, {hash_in(3, 7), 4}};
  combine_rows(table, to_tensor(rows, 2), 0, {MergeOp::AddInt64});
  EXPECT_EQ(combine_flush(table, 2, 2).size(0), 0);
  EXPECT_EQ(to_rows(combine_flush(table, 1, 3)), (std::vector<Row>{rows[1], rows[2]}));
  EXPECT_EQ(combine_flush(table, 1, 3).size(0), 0);
  EXPECT_EQ(to_rows(combine_flush(table)), (std::vector<Row>{rows[0], rows[3]}));
  combine_rows(table, to_tensor({{hash_in(1, 6), 5}, {hash_in(2, 3), 6}, {hash_in(3, 4), 7}}, 2), 0, {MergeOp::AddInt64});
  EXPECT_EQ(to_rows(combine_flush(table, 0, 4, 5, 4)), (std::vector<Row>{{hash_in(1, 6), 5}, {hash_in(3, 4), 7}}));
  EXPECT_EQ(to_rows(combine_flush(table)), (std::vector<Row>{{hash_in(2, 3), 6}}));
  EXPECT_THROW(combine_flush(table, 0, 4, 5, 2), InternalError);
  EXPECT_THROW(combine_flush(table, 3, 2), InternalError);
  EXPECT_THROW(combine_flush(table, 0, 5), InternalError);
}

TEST_P(CombineRows, TurnedHashesSwapTheirHalvesAndTurnBack) {
  const int64_t hash = 0x123456789abcdef0;
  at::Tensor rows = to_tensor({{hash, 1}, {lowest, 2}, {-1, 3}, {1, 4}, {0, 5}}, 2);
  const at::Tensor before = rows.clone();
  turn_hashes(rows);
  EXPECT_EQ(
      to_rows(rows),
      (std::vector<Row>{{static_cast<int64_t>(0x9abcdef012345678), 1}, {int64_t{1} << 31, 2}, {-1, 3}, {int64_t{1} << 32, 4}, {0, 5}}));
  turn_hashes(rows);
  EXPECT_TRUE(at::equal(rows, before));
}

TEST_P(CombineRows, TakesStridedRows) {
  const at::Tensor rows = at::arange(64, at::kLong).bitwise_left_shift(58).view({8, 8});  // each in a slot of its own
  for (const at::Tensor& view : {rows.slice(1, 3, 5), rows.slice(0, 0, 8, 2).slice(1, 0, 2), rows.t().slice(1, 0, 2)}) {
    at::Tensor table = at::zeros({64, 2}, at::kLong);
    combine_rows(table, view, 0, {MergeOp::AddInt64});
    const std::vector<Row> in = to_rows(view), out = to_rows(combine_flush(table));
    EXPECT_EQ(std::set(in.begin(), in.end()), std::set(out.begin(), out.end()));
  }
}

TEST_P(CombineRows, RefusesWrongArguments) {
  const std::vector<MergeOp> merges{MergeOp::AddInt64};
  const at::Tensor rows = at::zeros({3, 2}, at::kLong);
  at::Tensor table = at::zeros({8, 2}, at::kLong), one_slot = at::zeros({1, 2}, at::kLong), six_slots = at::zeros({6, 2}, at::kLong);
  at::Tensor wide = at::zeros({8, 3}, at::kLong), gaps = wide.slice(1, 0, 2), doubles = at::zeros({8, 2}, at::kDouble);
  for (at::Tensor* wrong : {&one_slot, &six_slots, &wide, &gaps, &doubles}) {
    EXPECT_THROW(combine_rows(*wrong, rows, 0, merges), InternalError);
  }
  for (at::Tensor* wrong : {&one_slot, &six_slots, &gaps, &doubles}) EXPECT_THROW(combine_flush(*wrong), InternalError);
  EXPECT_THROW(combine_rows(table, rows, 1, merges), InternalError);
  EXPECT_THROW(combine_rows(table, rows, 0, {MergeOp::AddInt128}), InternalError);
  EXPECT_THROW(combine_rows(table, rows, 0, {static_cast<MergeOp>(merge_op_count)}), InternalError);
  EXPECT_THROW(combine_rows(table, rows.to(at::kInt), 0, merges), InternalError);
}

INSTANTIATE_TEST_SUITE_P(Bodies, CombineRows, testing::Values(KernelMode::Tuned, KernelMode::Composite),
                         [](const auto& mode) { return mode.param == KernelMode::Tuned ? "Tuned" : "Composite"; });

}  // namespace
}  // namespace pistachio::kernels
