#include "exec/exchange/ordered_read.h"

#include <algorithm>

#include "base/check.h"
#include "columns/row_selection.h"
#include "exec/core/held_chunks.h"
#include "exec/exchange/source_runs.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

// What is there of one rank's rows, in their order.
struct MergeReadOperator::Head {
  Chunk rows;
  bool is_open = true;  // more may follow
};

struct MergeReadOperator::Merged {
  Chunk rows;  // of all heads, end to end
  at::Tensor order;
};

// The heads are ordered together. Behind the last row of a head that has more to come its next rows may belong, so the result ends with the
// first such row. Each round uses up at least that head.
MergeReadOperator::Merged MergeReadOperator::merge(std::vector<Head>& heads, at::Device device, const CancelToken& token) {
  WorkTimer timer(metrics_);
  std::vector<Chunk> chunks;
  std::vector<int64_t> ends;
  int64_t total = 0;
  for (const Head& head : heads) {
    if (head.rows.rows() > 0) chunks.push_back(head.rows);
    total += head.rows.rows();
    ends.push_back(total);
  }
  Merged merged{concatenate_chunks(chunks, types_, device, token), {}};
  merged.order = order_.order_of(merged.rows, token);
  at::Tensor places = at::empty_like(merged.order);
  places.scatter_(0, merged.order, at::arange(total, merged.order.options()));
  int64_t count = total;
  for (size_t i = 0; i < heads.size(); ++i) {
    if (heads[i].is_open) count = std::min(count, places[ends[i] - 1].item<int64_t>() + 1);
  }
  merged.order = merged.order.slice(0, 0, count);
  // Each head lies in its own order inside the result: what is used up of it is its beginning.
  for (size_t i = 0; i < heads.size(); ++i) {
    int64_t begin = i == 0 ? 0 : ends[i - 1];
    int64_t used = places.slice(0, begin, ends[i]).lt(count).sum().item<int64_t>();
    heads[i].rows = heads[i].rows.slice(used, heads[i].rows.rows() - used);
  }
  return merged;
}

Task<void> MergeReadOperator::produce(RunContext& context, ChunkSink& sink) {
  ENSURE(context.exchanges != nullptr);
  ExchangeInput& input = context.exchanges->input(number_);
  int ranks = context.exchanges->ranks();
  SourceRuns runs(input, ranks, context.device, metrics_);
  std::vector<Head> heads(static_cast<size_t>(ranks));
  MemoryAccount account = context.memory.make_child("merge");
  const TaskContext& task = co_await current_context();
  int64_t step = context.chunk_rows();
  while (!sink.is_full()) {
    int64_t bytes = 0;
    int64_t rows = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      Head& head = heads[static_cast<size_t>(rank)];
      if (head.is_open && head.rows.rows() == 0) {
        runs.release(rank);
        Task<std::optional<Chunk>> receiving = runs.next(rank);
        std::optional<Chunk> next = co_await receiving;
        head.is_open = next.has_value();
        if (next) head.rows = std::move(*next);
      }
      bytes += head.rows.memory_bytes();
      rows += head.rows.rows();
    }
    if (rows == 0) break;
    // The rows end to end, the words of their keys and the order.
    Reservation memory = account.reserve_now(bytes + rows * (order_.bytes_per_row() + 16), ReservationKind::Held);
    Merged merged = merge(heads, context.device, task.token);
    for (int64_t begin = 0; begin < merged.order.numel() && !sink.is_full(); begin += step) {
      at::Tensor part = merged.order.slice(0, begin, std::min(begin + step, merged.order.numel()));
      Task<void> passing = pass_on(metrics_, sink, 0, take_rows(merged.rows, part));
      co_await passing;
    }
  }
  if (sink.is_full()) input.close();
}

Task<void> RankByRankReadOperator::produce(RunContext& context, ChunkSink& sink) {
  ENSURE(context.exchanges != nullptr);
  ExchangeInput& input = context.exchanges->input(number_);
  int ranks = context.exchanges->ranks();
  SourceRuns runs(input, ranks, context.device, metrics_);
  int64_t step = context.chunk_rows();
  for (int rank = 0; rank < ranks; ++rank) {
    while (!sink.is_full()) {
      Task<std::optional<Chunk>> receiving = runs.next(rank);
      std::optional<Chunk> rows = co_await receiving;
      if (!rows) break;
      Task<void> passing = pass_on_in_steps(metrics_, sink, 0, std::move(*rows), step);
      co_await passing;
      runs.release(rank);
    }
  }
  if (sink.is_full()) input.close();
}

}  // namespace pistachio
