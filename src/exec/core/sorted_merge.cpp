#include "exec/core/sorted_merge.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "columns/row_selection.h"
#include "exec/core/held_chunks.h"
#include "exec/core/lane_concatenation.h"
#include "exec/core/lane_sort.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

// Rows of a run that are compared at once to find a place in it.
constexpr int64_t kProbes = 1024;

// The rows of one run that are in memory.
struct Head {
  std::vector<Chunk> parts;
  bool is_open = true;  // the run may have more rows
};

// Rows of open runs that are not in memory yet sort after the last row of their head, but may sort before the rows of other heads. So a
// round outputs the rows up to the bound: the one that the runs know, or else the earliest last row of an open head. Of all parts of a head
// but the last one, a round outputs all rows.
class MergeRound {
 public:
  MergeRound(const RowOrder& order, at::Device device, const CancelToken& token) : order_(order), device_(device), token_(token) {}

  void use_bound(MergeBound bound) {
    bound_ = std::move(bound.key);
    owner_ = bound.run;
  }

  void choose_bound(const std::vector<Head>& heads) {
    std::vector<Chunk> lasts;
    std::vector<size_t> owners;
    for (size_t i = 0; i < heads.size(); ++i) {
      if (!heads[i].is_open) continue;
      const Chunk& rows = heads[i].parts.back();
      lasts.push_back(own_chunk(order_.key_values(rows.slice(rows.rows() - 1, 1), token_)));
      owners.push_back(i);
    }
    if (lasts.empty()) return;
    const auto first = static_cast<size_t>(order_of(lasts)[0].item<int64_t>());
    bound_ = lasts[first];
    owner_ = owners[first];
  }

  // How many rows of the last part of a head belong to the output. Equal rows are output in the order of the heads.
  int64_t rows_of(size_t head, const Chunk& rows) const {
    if (bound_.rows() == 0 || head == owner_) return rows.rows();
    int64_t begin = 0;
    // [begin, end] contains the answer. The probes are the last rows of equal parts.
    for (int64_t end = rows.rows(); begin < end;) {
      const int64_t count = end - begin, probes = std::min(count, kProbes);
      const at::Tensor parts = at::arange(1, probes + 1, at::TensorOptions(at::kLong).device(device_));
      const at::Tensor places = parts.mul(count).div(probes, "floor").add_(begin - 1);
      const Chunk probed = own_chunk(order_.key_values(take_rows(rows, places), token_));
      // Where a stable sort puts the bound, before or after equal rows.
      const int64_t below = head < owner_ ? place_of(order_of({probed, bound_}), probes) : place_of(order_of({bound_, probed}), 0);
      const int64_t former = begin;
      begin = former + below * count / probes;
      if (below < probes) end = former + (below + 1) * count / probes - 1;
    }
    return begin;
  }

 private:
  at::Tensor order_of(const std::vector<Chunk>& keys) const {
    std::vector<LogicalType> types;
    for (const SortKey& key : order_.keys()) types.push_back(key.expression->type());
    return order_.order_of_keys(concatenate_chunks(keys, types, device_, token_), token_);
  }

  static int64_t place_of(const at::Tensor& order, int64_t row) { return order.eq(row).nonzero().item<int64_t>(); }

  const RowOrder& order_;
  const at::Device device_;
  const CancelToken& token_;
  Chunk bound_;  // the keys of a row; no rows: all rows are output
  size_t owner_ = 0;
};

// `pieces`: how many to read, by run; nullptr: one for each open run without rows.
Task<void> read_heads(RunContext& context, const SortedRuns& runs, const std::vector<size_t>* pieces, std::vector<Head>& heads) {
  std::vector<size_t> missing, counts;
  for (size_t run = 0; run < heads.size(); ++run) {
    const size_t count = pieces != nullptr ? (*pieces)[run] : heads[run].is_open && heads[run].parts.empty() ? 1 : 0;
    if (count == 0) continue;
    missing.push_back(run);
    counts.push_back(count);
  }
  auto read = [&](int, int64_t number) -> Task<void> {
    const size_t run = missing[static_cast<size_t>(number)];
    for (size_t i = 0; i < counts[static_cast<size_t>(number)]; ++i) {
      Task<std::optional<Chunk>> receiving = runs.next(run);
      std::optional<Chunk> next = co_await receiving;
      heads[run].is_open = next.has_value();
      if (next) heads[run].parts.push_back(std::move(*next));
    }
  };
  if (runs.is_concurrent) {
    Task<void> reading = for_each_lane(context, static_cast<int64_t>(missing.size()), read);
    co_await reading;
    co_return;
  }
  for (size_t number = 0; number < missing.size(); ++number) {
    Task<void> reading = read(0, static_cast<int64_t>(number));
    co_await reading;
  }
}

// Removes the rows of a round from the heads. Returns them in the order of the heads.
Task<std::vector<Chunk>> take_round(RunContext& context, const MergeRound& round, OperatorMetrics& metrics, std::vector<Head>& heads) {
  std::vector<std::vector<Chunk>> taken(heads.size());
  auto take = [&](int, int64_t number) -> Task<void> {
    WorkTimer timer(metrics);
    const auto head = static_cast<size_t>(number);
    std::vector<Chunk>& parts = heads[head].parts;
    if (parts.empty()) co_return;
    const Chunk last = parts.back();
    const int64_t count = round.rows_of(head, last);
    taken[head] = std::exchange(parts, {});
    taken[head].back() = last.slice(0, count);
    if (count < last.rows()) parts.push_back(last.slice(count, last.rows() - count));
  };
  Task<void> taking = for_each_lane(context, static_cast<int64_t>(heads.size()), take);
  co_await taking;
  std::vector<Chunk> all;
  for (std::vector<Chunk>& of_head : taken) std::move(of_head.begin(), of_head.end(), std::back_inserter(all));
  std::erase_if(all, [](const Chunk& rows) { return rows.rows() == 0; });
  co_return all;
}

}  // namespace

Task<void> merge_sorted(RunContext& context, const RowOrder& order, const SortedRuns& runs, const MemoryAccount& account,
                        OperatorMetrics& metrics, ChunkSink& sink) {
  const TaskContext& task = co_await current_context();
  std::vector<Head> heads(runs.count);
  const SortedOutput output{.step = context.chunk_rows(), .limit = {}};
  while (!sink.is_full()) {
    std::optional<MergeBound> bound;
    if (runs.next_bound) {
      bound = runs.next_bound();
      if (!bound) co_return;
    }
    Task<void> reading = read_heads(context, runs, bound ? &bound->pieces : nullptr, heads);
    co_await reading;
    int64_t bytes = 0;
    int64_t rows = 0;
    for (const Head& head : heads) {
      for (const Chunk& part : head.parts) {
        bytes += part.memory_bytes();
        rows += part.rows();
      }
    }
    if (rows == 0) co_return;
    // The concatenated rows, the words of their keys, and the order.
    const Reservation memory = account.reserve_now(bytes + rows * (order.bytes_per_row() + 16), ReservationKind::Held);
    MergeRound round(order, context.device, task.token);
    {
      WorkTimer timer(metrics);
      if (bound) {
        round.use_bound(std::move(*bound));
      } else {
        round.choose_bound(heads);
      }
    }
    Task<std::vector<Chunk>> taking = take_round(context, round, metrics, heads);
    std::vector<Chunk> taken = co_await taking;
    Task<Chunk> concatenating = concatenate_on_lanes(context, std::move(taken), runs.types, metrics);
    const Chunk together = co_await concatenating;
    Task<void> passing = pass_on_sorted(context, order, together, output, metrics, sink);
    co_await passing;
  }
}

}  // namespace pistachio
