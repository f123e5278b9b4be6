#include "exec/core/sorted_merge.h"

#include <algorithm>

#include "columns/row_selection.h"
#include "exec/core/held_chunks.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

// The rows of one run that are in memory.
struct Head {
  Chunk rows;
  bool is_open = true;  // the run may have more rows
};

struct Merged {
  Chunk rows;  // of all heads, end to end
  at::Tensor order;
};

// Sorts all heads together. Rows of an open run that are not in memory yet sort after its last row here, but may sort before everything
// beyond it. So the output ends with the earliest last row of an open head; each round consumes at least that head.
Merged merge_heads(std::vector<Head>& heads, const RowOrder& order, const std::vector<LogicalType>& types, at::Device device,
                   const CancelToken& token) {
  std::vector<Chunk> chunks;
  std::vector<int64_t> ends;
  int64_t total = 0;
  for (const Head& head : heads) {
    if (head.rows.rows() > 0) chunks.push_back(head.rows);
    total += head.rows.rows();
    ends.push_back(total);
  }
  Merged merged{concatenate_chunks(chunks, types, device, token), {}};
  merged.order = order.order_of(merged.rows, token);
  at::Tensor places = at::empty_like(merged.order);
  places.scatter_(0, merged.order, at::arange(total, merged.order.options()));
  int64_t count = total;
  for (size_t i = 0; i < heads.size(); ++i) {
    if (heads[i].is_open) count = std::min(count, places[ends[i] - 1].item<int64_t>() + 1);
  }
  merged.order = merged.order.slice(0, 0, count);
  // The sort is stable and heads are sorted, so the consumed rows of a head are its first ones.
  for (size_t i = 0; i < heads.size(); ++i) {
    const int64_t begin = i == 0 ? 0 : ends[i - 1];
    const int64_t used = places.slice(0, begin, ends[i]).lt(count).sum().item<int64_t>();
    heads[i].rows = heads[i].rows.slice(used, heads[i].rows.rows() - used);
  }
  return merged;
}

}  // namespace

Task<void> merge_sorted(RunContext& context, const RowOrder& order, const SortedRuns& runs, const MemoryAccount& account,
                        OperatorMetrics& metrics, ChunkSink& sink) {
  const TaskContext& task = co_await current_context();
  std::vector<Head> heads(runs.count);
  const int64_t step = context.chunk_rows();
  while (!sink.is_full()) {
    int64_t bytes = 0;
    int64_t rows = 0;
    for (size_t run = 0; run < heads.size(); ++run) {
      Head& head = heads[run];
      if (head.is_open && head.rows.rows() == 0) {
        Task<std::optional<Chunk>> receiving = runs.next(run);
        std::optional<Chunk> next = co_await receiving;
        head.is_open = next.has_value();
        if (next) head.rows = std::move(*next);
      }
      bytes += head.rows.memory_bytes();
      rows += head.rows.rows();
    }
    if (rows == 0) co_return;
    // The concatenated rows, the words of their keys, and the order.
    const Reservation memory = account.reserve_now(bytes + rows * (order.bytes_per_row() + 16), ReservationKind::Held);
    Merged merged;
    {
      WorkTimer timer(metrics);
      merged = merge_heads(heads, order, runs.types, context.device, task.token);
    }
    for (int64_t begin = 0; begin < merged.order.numel() && !sink.is_full(); begin += step) {
      const at::Tensor part = merged.order.slice(0, begin, std::min(begin + step, merged.order.numel()));
      Task<void> passing = pass_on(metrics, sink, 0, take_rows(merged.rows, part));
      co_await passing;
    }
  }
}

}  // namespace pistachio
