#include "exec/core/sorted_merge.h"

#include <algorithm>

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
  Chunk rows;
  bool is_open = true;  // the run may have more rows
};

// Rows of open runs that are not in memory yet sort after the last row of their head, but may sort before the rows of other heads. So a
// round outputs the rows up to the bound, the earliest last row of an open head, and consumes at least that head.
class MergeRound {
 public:
  MergeRound(const RowOrder& order, at::Device device, const CancelToken& token) : order_(order), device_(device), token_(token) {}

  void choose_bound(const std::vector<Head>& heads) {
    std::vector<Chunk> lasts;
    std::vector<size_t> owners;
    for (size_t i = 0; i < heads.size(); ++i) {
      const Chunk& rows = heads[i].rows;
      if (!heads[i].is_open) continue;
      lasts.push_back(own_chunk(order_.key_values(rows.slice(rows.rows() - 1, 1), token_)));
      owners.push_back(i);
    }
    if (lasts.empty()) return;
    const auto first = static_cast<size_t>(order_of(lasts)[0].item<int64_t>());
    bound_ = lasts[first];
    owner_ = owners[first];
  }

  // How many rows of a head belong to the output. Equal rows are output in the order of the heads.
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

Task<void> read_heads(RunContext& context, const SortedRuns& runs, std::vector<Head>& heads) {
  std::vector<size_t> missing;
  for (size_t run = 0; run < heads.size(); ++run) {
    if (heads[run].is_open && heads[run].rows.rows() == 0) missing.push_back(run);
  }
  auto read = [&](int, int64_t number) -> Task<void> {
    const size_t run = missing[static_cast<size_t>(number)];
    Task<std::optional<Chunk>> receiving = runs.next(run);
    std::optional<Chunk> next = co_await receiving;
    heads[run].is_open = next.has_value();
    if (next) heads[run].rows = std::move(*next);
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

// Removes the rows of a round from the heads.
Task<std::vector<Chunk>> take_round(RunContext& context, const RowOrder& order, OperatorMetrics& metrics, std::vector<Head>& heads) {
  const TaskContext& task = co_await current_context();
  MergeRound round(order, context.device, task.token);
  {
    WorkTimer timer(metrics);
    round.choose_bound(heads);
  }
  std::vector<Chunk> taken(heads.size());
  auto take = [&](int, int64_t number) -> Task<void> {
    WorkTimer timer(metrics);
    const auto head = static_cast<size_t>(number);
    Chunk& rows = heads[head].rows;
    if (rows.rows() == 0) co_return;
    const int64_t count = round.rows_of(head, rows);
    taken[head] = rows.slice(0, count);
    rows = rows.slice(count, rows.rows() - count);
  };
  Task<void> taking = for_each_lane(context, static_cast<int64_t>(heads.size()), take);
  co_await taking;
  std::erase_if(taken, [](const Chunk& rows) { return rows.rows() == 0; });
  co_return taken;
}

}  // namespace

Task<void> merge_sorted(RunContext& context, const RowOrder& order, const SortedRuns& runs, const MemoryAccount& account,
                        OperatorMetrics& metrics, ChunkSink& sink) {
  std::vector<Head> heads(runs.count);
  const SortedOutput output{.step = context.chunk_rows(), .limit = {}};
  while (!sink.is_full()) {
    Task<void> reading = read_heads(context, runs, heads);
    co_await reading;
    int64_t bytes = 0;
    int64_t rows = 0;
    for (const Head& head : heads) {
      bytes += head.rows.memory_bytes();
      rows += head.rows.rows();
    }
    if (rows == 0) co_return;
    // The concatenated rows, the words of their keys, and the order.
    const Reservation memory = account.reserve_now(bytes + rows * (order.bytes_per_row() + 16), ReservationKind::Held);
    Task<std::vector<Chunk>> taking = take_round(context, order, metrics, heads);
    std::vector<Chunk> taken = co_await taking;
    Task<Chunk> concatenating = concatenate_on_lanes(context, std::move(taken), runs.types, metrics);
    const Chunk together = co_await concatenating;
    Task<void> passing = pass_on_sorted(context, order, together, output, metrics, sink);
    co_await passing;
  }
}

}  // namespace pistachio
