#include "exec/exchange/ordered_read.h"

#include "base/check.h"
#include "exec/core/sorted_merge.h"
#include "exec/exchange/source_runs.h"

namespace pistachio {

Task<void> MergeReadOperator::produce(RunContext& context, ChunkSink& sink) {
  ENSURE(context.exchanges != nullptr);
  ExchangeInput& input = context.exchanges->input(number_);
  const int ranks = context.exchanges->ranks();
  SourceRuns sources(input, ranks, context.device, metrics_);
  SortedRuns runs{static_cast<size_t>(ranks), types_, [&](size_t run) {
                    sources.release(static_cast<int>(run));
                    return sources.next(static_cast<int>(run));
                  }};
  const MemoryAccount account = context.memory.make_child("merge");
  Task<void> merging = merge_sorted(context, order_, runs, account, metrics_, sink);
  co_await merging;
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
