// Guarantees of the relational kernels across calls, on every body: tables filled in several calls that grow in between, probes that
// resume, stable sorts.
#include <gtest/gtest.h>

#include <map>

#include "base/error.h"
#include "kernels/ops/gather_rows.h"
#include "kernels/ops/group_assign.h"
#include "kernels/ops/hash64.h"
#include "kernels/ops/join_build.h"
#include "kernels/ops/join_probe.h"
#include "kernels/ops/kernel_mode.h"
#include "kernels/ops/partition_rows.h"
#include "kernels/ops/route_rows.h"
#include "kernels/ops/segment_extreme.h"
#include "kernels/ops/segment_moments.h"
#include "kernels/ops/segment_sum.h"
#include "kernels/ops/sort_order.h"
#include "kernels/ops/stop_flag.h"
#include "kernels/ops/tensor_functions.h"
#include "kernels/ops/text_ranks.h"

namespace pistachio::kernels {
namespace {

at::Tensor words(const std::vector<int64_t>& values) {
  return at::tensor(values, at::kLong);
}

std::vector<int64_t> list(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.contiguous();
  return {flat.const_data_ptr<int64_t>(), flat.const_data_ptr<int64_t>() + flat.numel()};
}

class RelationalKernels : public testing::TestWithParam<KernelMode> {
 private:
  KernelModeGuard mode_{GetParam()};
};

TEST_P(RelationalKernels, GroupsKeepTheirIdsWhenTheTableGrows) {
  at::Tensor slots = at::zeros({4, 2}, at::kLong);
  std::map<int64_t, int64_t> expected;
  int64_t groups = 0, calls = 0;
  for (int64_t batch = 0; batch < 5; ++batch) {
    const at::Tensor hashes = hash64(at::randint(3000, {2000}, at::kLong));
    const std::vector<int64_t> hash = list(hashes);
    for (int64_t row = 0; row < hashes.size(0);) {
      auto [ids, first_rows] = group_assign(slots, groups, slots.size(0) / 2, hashes, row);
      ++calls;
      for (const int64_t first : list(first_rows)) {
        EXPECT_TRUE(expected.emplace(hash[static_cast<size_t>(first)], groups++).second) << "hash known before row " << first;
      }
      for (const int64_t id : list(ids)) {
        ASSERT_EQ(id, expected.at(hash[static_cast<size_t>(row)])) << "row " << row;
        ++row;
      }
      if (row < hashes.size(0)) {
        EXPECT_EQ(groups, slots.size(0) / 2) << "stopped early";
        slots = group_rehash(slots, slots.size(0) * 2);
      }
    }
  }
  EXPECT_GT(calls, 10);
  EXPECT_EQ(groups, static_cast<int64_t>(expected.size()));
}

TEST_P(RelationalKernels, HashZeroDiffersFromEmptySlot) {
  at::Tensor slots = at::zeros({64, 2}, at::kLong);
  const auto [ids, first_rows] = group_assign(slots, 0, 32, words({0, 64, 0, 128, 64, 0, 1, 0, 0, 64, 1}), 0);
  EXPECT_EQ(list(ids), (std::vector<int64_t>{0, 1, 0, 2, 1, 0, 3, 0, 0, 1, 3}));
  EXPECT_EQ(list(first_rows), (std::vector<int64_t>{0, 1, 3, 6}));
}

TEST_P(RelationalKernels, GroupingStopsAtTheGroupLimit) {
  at::Tensor slots = at::zeros({8, 2}, at::kLong);
  const at::Tensor hashes = words({5, 6, 5, 7, 6, 8});
  const auto [ids, first_rows] = group_assign(slots, 0, 2, hashes, 1);
  EXPECT_EQ(list(ids), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(list(first_rows), (std::vector<int64_t>{1, 2}));
  const auto [no_ids, no_rows] = group_assign(slots, 2, 2, hashes, 3);
  EXPECT_EQ(no_ids.numel(), 0);
  EXPECT_EQ(no_rows.numel(), 0);
  EXPECT_THROW(group_assign(slots, 2, 5, hashes, 3), InternalError);  // more than half of the slots
}

TEST_P(RelationalKernels, ProbesResumeWhereTheyStopped) {
  const at::Tensor build = hash64(at::randint(50, {300}, at::kLong)), probe = hash64(at::randint(80, {400}, at::kLong));
  const at::Tensor build_validity = at::rand({300}).lt(0.8), probe_validity = at::rand({400}).lt(0.8);
  std::vector<int64_t> expected_probe, expected_build;
  for (int64_t row = 0; row < 400; ++row) {
    for (int64_t other = 0; other < 300; ++other) {
      if (!probe_validity[row].item<bool>() || !build_validity[other].item<bool>()) continue;
      if (probe[row].item<int64_t>() != build[other].item<int64_t>()) continue;
      expected_probe.push_back(row);
      expected_build.push_back(other);
    }
  }
  const auto [offsets, order, ordered_hashes] = join_build(build, build_validity);
  for (const int64_t most_pairs : {1, 2, 7, 100, 5000}) {
    std::vector<int64_t> probe_rows, build_rows;
    int64_t begin = 0, calls = 0;
    while (begin < 400) {
      auto [left, right, next] = join_probe(offsets, order, ordered_hashes, probe, probe_validity, begin, most_pairs);
      ASSERT_GT(next, begin);
      if (next < 400) {
        EXPECT_GE(left.numel(), most_pairs);
        EXPECT_EQ(left[left.numel() - 1].item<int64_t>(), next - 1);
      }
      for (const int64_t row : list(left)) probe_rows.push_back(row);
      for (const int64_t row : list(right)) build_rows.push_back(row);
      begin = next;
      ++calls;
    }
    EXPECT_EQ(probe_rows, expected_probe);
    EXPECT_EQ(build_rows, expected_build);
    EXPECT_EQ(calls > 1, most_pairs < 5000);
  }
}

TEST_P(RelationalKernels, OneProbeRowMayHaveManyMatches) {
  const auto [offsets, order, ordered_hashes] = join_build(at::full({100000}, 77, at::kLong));
  const auto [left, right, next] = join_probe(offsets, order, ordered_hashes, words({78, 77, 77}), {}, 0, 10);
  EXPECT_EQ(next, 2);
  EXPECT_TRUE(at::equal(left, at::ones({100000}, at::kLong)));
  EXPECT_TRUE(at::equal(right, at::arange(100000, at::kLong)));
}

TEST_P(RelationalKernels, PartitionsAreRangesOfTheJoinTable) {
  const at::Tensor hashes = hash64(at::arange(5000, at::kLong));
  const auto [order, bounds] = partition_rows(hashes, 4);
  const auto [offsets, join_order, ordered_hashes] = join_build(hashes);
  const int64_t buckets = (offsets.size(0) - 1) / 16;
  for (int64_t partition = 0; partition <= 16; ++partition) {
    EXPECT_EQ(bounds[partition].item<int64_t>(), offsets[partition * buckets].item<int64_t>());
  }
}

TEST_P(RelationalKernels, RowsGoToTheOwnersOfTheirBuckets) {
  const at::Tensor hashes = hash64(at::arange(5000, at::kLong)), owners = at::tensor({2, 0, 2, 3}, at::kInt);
  const auto [order, offsets] = route_rows(hashes, owners, 5);
  std::vector<std::vector<int64_t>> expected(5);
  for (int64_t row = 0; row < 5000; ++row) {
    const auto bucket = static_cast<int64_t>(static_cast<uint64_t>(hashes[row].item<int64_t>()) >> 62);
    expected[static_cast<size_t>(owners[bucket].item<int>())].push_back(row);
  }
  ASSERT_EQ(offsets.size(0), 6);
  for (int64_t rank = 0; rank < 5; ++rank) {
    const at::Tensor part = order.slice(0, offsets[rank].item<int64_t>(), offsets[rank + 1].item<int64_t>());
    EXPECT_EQ(list(part), expected[static_cast<size_t>(rank)]) << "rank " << rank;
  }
}

TEST_P(RelationalKernels, OwnersOutOfRangeAreRejected) {
  const at::Tensor hashes = hash64(at::arange(10, at::kLong));
  EXPECT_THROW(route_rows(hashes, words({0, 1, 2, 0}), 2), InternalError);
  EXPECT_THROW(route_rows(hashes, words({0, -1, 1, 0}), 2), InternalError);
  EXPECT_THROW(route_rows(hashes, words({0, 1, 0}), 2), InternalError);  // not a power of two
  EXPECT_THROW(route_rows(hashes, words({}), 2), InternalError);
}

TEST_P(RelationalKernels, SortsKeepTheOrderOfEqualRows) {
  for (const int64_t rows : {10, 1000, 300000}) {
    const at::Tensor first = at::randint(-3, 3, {rows}, at::kLong), second = at::randint(4, {rows}, at::kLong);
    // The second key in the top bits of a word and in a double's bits, so that all words together need more than 64 bits.
    const at::Tensor wide = (second - 2).bitwise_left_shift(61) + 1;
    const std::vector<int64_t> order = list(sort_order({first, wide}));
    const std::vector<int64_t> keys = list(first * 10 + second);
    for (size_t i = 1; i < order.size(); ++i) {
      const int64_t before = keys[static_cast<size_t>(order[i - 1])], after = keys[static_cast<size_t>(order[i])];
      ASSERT_TRUE(before < after || (before == after && order[i - 1] < order[i])) << "place " << i;
    }
  }
  const int64_t least = std::numeric_limits<int64_t>::min(), greatest = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(list(sort_order({words({greatest, 0, least, -1, greatest})})), (std::vector<int64_t>{2, 3, 1, 0, 4}));
}

TEST_P(RelationalKernels, StopFlagEndsSortsAndTextRanks) {
  const at::Tensor keys = hash64(at::arange(100000, at::kLong));
  const at::Tensor bytes = keys.view(at::kByte), begins = at::arange(100000, at::kLong) * 8;
  StopFlag stop;
  EXPECT_TRUE(at::equal(sort_order({keys}, stop.tensor()), sort_order({keys})));
  EXPECT_TRUE(at::equal(text_ranks(bytes, begins, begins + 8, stop.tensor()), text_ranks(bytes, begins, begins + 8)));
  stop.set();
  EXPECT_THROW(sort_order({keys}, stop.tensor()), Cancelled);
  EXPECT_THROW(text_ranks(bytes, begins, begins + 8, stop.tensor()), Cancelled);
}

TEST_P(RelationalKernels, StopFlagEndsTableBuildsAndPartitioning) {
  // More than a strip.
  const int64_t rows = (int64_t{1} << 20) + 77;
  const at::Tensor hashes = hash64(at::arange(rows, at::kLong));
  StopFlag stop;
  const auto [offsets, order, ordered_hashes] = join_build(hashes, {}, stop.tensor());
  const auto [free_offsets, free_order, free_hashes] = join_build(hashes);
  EXPECT_TRUE(at::equal(offsets, free_offsets) && at::equal(order, free_order) && at::equal(ordered_hashes, free_hashes));
  EXPECT_TRUE(at::equal(hashes.index_select(0, order), ordered_hashes));
  const auto [partitioned, bounds] = partition_rows(hashes, 4, stop.tensor());
  EXPECT_TRUE(at::equal(partitioned, std::get<0>(partition_rows(hashes, 4))));
  EXPECT_TRUE(at::equal(std::get<0>(at::sort(partitioned)), at::arange(rows, at::kLong)));
  at::Tensor slots = at::zeros({1 << 21, 2}, at::kLong);
  const auto [ids, first_rows] = group_assign(slots, 0, 1 << 20, hashes, 0);
  EXPECT_EQ(ids.numel(), 1 << 20);
  EXPECT_TRUE(at::equal(group_rehash(slots, 1 << 22, stop.tensor()), group_rehash(slots, 1 << 22)));
  EXPECT_EQ(group_rehash(slots, 1 << 22).select(1, 1).ne(0).sum().item<int64_t>(), 1 << 20);
  stop.set();
  EXPECT_THROW(join_build(hashes, {}, stop.tensor()), Cancelled);
  EXPECT_THROW(partition_rows(hashes, 4, stop.tensor()), Cancelled);
  EXPECT_THROW(group_rehash(slots, 1 << 22, stop.tensor()), Cancelled);
}

TEST_P(RelationalKernels, RanksAreDense) {
  const std::string data = "abcab";
  at::Tensor bytes = at::empty({5}, at::kByte);
  std::copy(data.begin(), data.end(), bytes.mutable_data_ptr<uint8_t>());
  const at::Tensor ranks = text_ranks(bytes, words({0, 3, 2, 0, 1, 5}), words({2, 5, 3, 1, 3, 5}));  // ab ab c a bc and nothing
  EXPECT_EQ(list(ranks), (std::vector<int64_t>{2, 2, 4, 1, 3, 0}));
}

TEST_P(RelationalKernels, MissingRowsGatherZero) {
  const at::Tensor values = at::arange(1, 6, at::kDouble);
  EXPECT_TRUE(at::equal(gather_rows(values, words({4, -1, 0})), at::tensor({5.0, 0.0, 1.0}, at::kDouble)));
  EXPECT_TRUE(at::equal(gather_rows(at::empty({0}, at::kInt), words({-1, -1})), at::zeros({2}, at::kInt)));
}

TEST_P(RelationalKernels, SumsAreExactUpTo128Bits) {
  const int64_t greatest = std::numeric_limits<int64_t>::max();
  at::Tensor sums = at::zeros({2, 2}, at::kLong);
  const at::Tensor values = at::full({100}, greatest, at::kLong);
  segment_sum(sums, at::zeros({100}, at::kLong), values);
  EXPECT_EQ(list(sums), (std::vector<int64_t>{-100, 49, 0, 0}));  // 100 * (2^63 - 1) = 50 * 2^64 - 100
  at::Tensor full = words({-1, greatest}).view({1, 2});
  EXPECT_THROW(segment_sum(full, words({0}), words({1, 0}).view({1, 2})), UserError);
}

TEST_P(RelationalKernels, MomentsMergeToThoseOfAllRows) {
  const at::Tensor values = at::rand({1000}, at::kDouble) + 1e6, ids = at::zeros({1000}, at::kLong);
  at::Tensor all = at::zeros({1, 3}, at::kDouble), halves = at::zeros({2, 3}, at::kDouble), merged = at::zeros({1, 3}, at::kDouble);
  segment_moments(all, ids, values);
  segment_moments(halves, at::arange(1000, at::kLong).div(300, "floor").clamp_max(1), values);
  moments_merge(merged, words({0, 0}), halves);
  EXPECT_TRUE(at::allclose(all, merged, 1e-9));
  EXPECT_NEAR((all[0][2] / 999).item<double>(), values.var().item<double>(), 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Bodies, RelationalKernels, testing::Values(KernelMode::Tuned, KernelMode::Composite),
                         [](const auto& parameter) { return parameter.param == KernelMode::Tuned ? "Tuned" : "Composite"; });

}  // namespace
}  // namespace pistachio::kernels
