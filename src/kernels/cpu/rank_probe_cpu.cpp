// CPU body of probe_ranks: looks up the ranks of a batch of rows, then appends their pairs.

#include <algorithm>
#include <array>

#include "kernels/cpu/key_ranks_simd.h"
#include "kernels/cpu/pair_buffer.h"
#include "kernels/cpu/value_kind_of.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

namespace {

// Small enough for L1.
constexpr int64_t ranks_at_once = 512;

struct RankBatch {
  int64_t begin, end;    // rows
  const int64_t* ranks;  // of the rows
};

// Appends at most one pair per row, which has been reserved. `order` null: the build row is the rank itself.
void add_single_pairs(const RankBatch& batch, const int32_t* order, PairBuffer& pairs) {
  int64_t* probe_rows = pairs.probe_rows();
  int64_t* build_rows = pairs.build_rows();
  int64_t count = pairs.size;
  for (int64_t row = batch.begin; row < batch.end; ++row) {
    const int64_t rank = batch.ranks[row - batch.begin];
    probe_rows[count] = row;
    build_rows[count] = rank;
    count += rank >= 0;
  }
  for (int64_t i = pairs.size; order != nullptr && i < count; ++i) build_rows[i] = order[build_rows[i]];
  pairs.size = count;
}

// Appends all pairs of the rows until there are most_pairs; returns the first row that is not done. Finds the build rows of the whole batch
// first, for cache misses to overlap.
int64_t add_all_pairs(const RankBatch& batch, const int64_t* offsets, const int32_t* order, int64_t most_pairs, PairBuffer& pairs) {
  struct Match {
    int64_t row, first, last;
  };
  std::array<Match, ranks_at_once + 1> matches;
  size_t count = 0;
  for (int64_t row = batch.begin; row < batch.end; ++row) {
    const int64_t rank = batch.ranks[row - batch.begin], inside = std::max<int64_t>(rank, 0);
    matches[count] = {row, offsets[inside], offsets[inside + 1]};
    __builtin_prefetch(order + matches[count].first);
    count += rank >= 0;
  }
  for (size_t i = 0; i < count; ++i) {
    const Match match = matches[i];
    pairs.reserve(match.last - match.first);
    int64_t* probe_rows = pairs.probe_rows();
    int64_t* build_rows = pairs.build_rows();
    for (int64_t place = match.first; place < match.last; ++place) {
      probe_rows[pairs.size] = match.row;
      build_rows[pairs.size++] = order[place];
    }
    if (pairs.size >= most_pairs) return match.row + 1;
  }
  return batch.end;
}

std::tuple<at::Tensor, at::Tensor, int64_t> probe_ranks(const at::Tensor& ranks, const std::optional<at::Tensor>& offsets,
                                                        const std::optional<at::Tensor>& order, const at::Tensor& values,
                                                        const std::optional<at::Tensor>& validity, int64_t least, int64_t begin,
                                                        int64_t most_pairs) {
  const int64_t rows = values.numel();
  if (ranks.numel() == 0) return {at::empty({0}, at::kLong), at::empty({0}, at::kLong), rows};
  const KeyRanks keys{reinterpret_cast<const uint64_t*>(ranks.const_data_ptr<int64_t>()), static_cast<uint64_t>(ranks.numel()) * 32,
                      static_cast<uint64_t>(least)};
  const bool* mask = validity ? validity->const_data_ptr<bool>() : nullptr;
  const int32_t* build_rows = order ? order->const_data_ptr<int32_t>() : nullptr;
  const int64_t* bounds = offsets ? offsets->const_data_ptr<int64_t>() : nullptr;
  const ValueKind kind = value_kind_of(values);
  PairBuffer pairs(std::min(most_pairs, rows - begin) + ranks_at_once);
  std::array<int64_t, ranks_at_once> found;
  int64_t next = begin;
  while (next < rows && pairs.size < most_pairs) {
    // A row has one pair at most unless there are offsets, so a batch that fits the limit cannot exceed it.
    const int64_t step = bounds == nullptr ? std::min(ranks_at_once, most_pairs - pairs.size) : ranks_at_once;
    const RankBatch batch{next, std::min(rows, next + step), found.data()};
    look_up_ranks(keys, kind, values.const_data_ptr(), mask, batch.begin, batch.end, found.data());
    if (bounds == nullptr) {
      pairs.reserve(ranks_at_once);
      add_single_pairs(batch, build_rows, pairs);
      next = batch.end;
    } else {
      next = add_all_pairs(batch, bounds, build_rows, most_pairs, pairs);
    }
  }
  return pairs.result(next);
}

}  // namespace

REGISTER_BODY(Cpu, "probe_ranks", probe_ranks);

}  // namespace pistachio::kernels::cpu
