#include "exec/core/merge_bounds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "kernels/ops/tensor_functions.h"

namespace pistachio {
namespace {

RowOrder ascending_order() {
  SortKey key;
  key.expression = Expression::column({0}, TypeKind::BigInt);
  key.nulls_first = false;
  return RowOrder({key}, {{0}});
}

// Sorted runs as they would be on disk: run -> piece -> keys.
using Pieces = std::vector<std::vector<std::vector<int64_t>>>;

Pieces random_runs(std::mt19937& random, int64_t keys) {
  Pieces runs(1 + random() % 6);
  for (std::vector<std::vector<int64_t>>& run : runs) {
    std::vector<int64_t> all(random() % 60);
    for (int64_t& key : all) key = static_cast<int64_t>(random()) % keys;
    std::sort(all.begin(), all.end());
    for (size_t begin = 0; begin < all.size();) {
      const size_t end = std::min(all.size(), begin + 1 + random() % 7);
      run.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(begin), all.begin() + static_cast<std::ptrdiff_t>(end));
      begin = end;
    }
  }
  return runs;
}

// A key counts as a byte.
MergeBounds bounds_of(const Pieces& runs) {
  std::vector<MergeBounds::RunPieces> pieces;
  for (const auto& run : runs) {
    std::vector<int64_t> lasts;
    MergeBounds::RunPieces& of_run = pieces.emplace_back();
    for (const std::vector<int64_t>& piece : run) {
      lasts.push_back(piece.back());
      of_run.bytes.push_back(static_cast<int64_t>(piece.size()));
    }
    const at::Tensor values = at::tensor(lasts, at::kLong);
    of_run.lasts = Chunk({Column::fixed(TypeKind::BigInt, values)}, values.numel());
  }
  return MergeBounds(ascending_order(), {TypeKind::BigInt}, std::move(pieces), at::kCPU, {});
}

using Row = std::pair<int64_t, size_t>;  // key and run: equal keys are output in the order of the runs

// Does what merge_sorted() does, and returns the output; `most`: the rows in memory in the fullest round.
std::vector<Row> merged(const Pieces& runs, int64_t bytes, int64_t& most) {
  MergeBounds bounds = bounds_of(runs);
  std::vector<std::vector<Row>> heads(runs.size());
  std::vector<size_t> read(runs.size());
  std::vector<Row> output;
  while (const std::optional<MergeBound> bound = bounds.next(bytes)) {
    const Row last{bound->key.column(0).values().item<int64_t>(), bound->run};
    int64_t held = 0;
    std::vector<Row> round;
    for (size_t run = 0; run < runs.size(); ++run) {
      for (size_t i = 0; i < bound->pieces[run]; ++i) {
        // Only the last piece of a run may reach beyond the bound.
        EXPECT_TRUE(heads[run].empty() || heads[run].back() <= last);
        for (int64_t key : runs[run].at(read[run])) heads[run].emplace_back(key, run);
        ++read[run];
      }
      held += static_cast<int64_t>(heads[run].size());
      const auto end = std::upper_bound(heads[run].begin(), heads[run].end(), last);
      round.insert(round.end(), heads[run].begin(), end);
      heads[run].erase(heads[run].begin(), end);
    }
    std::sort(round.begin(), round.end());
    EXPECT_FALSE(round.empty());
    output.insert(output.end(), round.begin(), round.end());
    most = std::max(most, held);
  }
  for (const std::vector<Row>& head : heads) EXPECT_TRUE(head.empty());
  return output;
}

TEST(MergeBounds, OutputsAllRowsInOrder) {
  std::mt19937 random(7);
  for (int64_t round = 0; round < 300; ++round) {
    const Pieces runs = random_runs(random, round % 3 == 0 ? 5 : 1'000);
    std::vector<Row> expected;
    for (size_t run = 0; run < runs.size(); ++run) {
      for (const std::vector<int64_t>& piece : runs[run]) {
        for (int64_t key : piece) expected.emplace_back(key, run);
      }
    }
    std::sort(expected.begin(), expected.end());
    for (const int64_t bytes : {0, 20, 100, 100'000}) {
      int64_t most = 0;
      EXPECT_EQ(merged(runs, bytes, most), expected) << "round " << round << ", " << bytes << " bytes";
      // A piece has at most 7 rows; at least one of each run and the one after the bound are in memory.
      EXPECT_LE(most, std::max<int64_t>(bytes, 7 * static_cast<int64_t>(runs.size())) + 7);
    }
  }
}

TEST(MergeBounds, NeedsFewRoundsWhereMemoryIsAmple) {
  Pieces runs(10);
  for (int64_t key = 0; key < 100'000; ++key) {
    std::vector<std::vector<int64_t>>& run = runs[static_cast<size_t>(key) % runs.size()];
    if (run.empty() || run.back().size() == 100) run.emplace_back();
    run.back().push_back(key);
  }
  MergeBounds bounds = bounds_of(runs);
  int rounds = 0;
  while (bounds.next(20'000)) ++rounds;
  EXPECT_LE(rounds, 6);
  EXPECT_GE(rounds, 5);
}

}  // namespace
}  // namespace pistachio
