// A CTE that is read several times: computed by its first reader, retained (replayable_rows.h), and replayed for the others. A CTE that is
// read once is streamed to its reader and stops early when the reader is full.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "exec/operators/replayable_rows.h"
#include "memory/channel.h"

namespace pistachio {

// The plan and, in a run, the rows. The first reader computes them; others wait.
class SharedRows {
 public:
  SharedRows(OperatorPtr plan, std::vector<LogicalType> types) : plan_(std::move(plan)), types_(std::move(types)) {}

  // While the plan is built. `often`: what has the reader in it runs more than once.
  void add_reader(bool often) { reads_ += often ? 2 : 1; }
  bool is_read_once() const { return reads_ == 1; }

  // Returns when the rows are there.
  Task<void> compute(RunContext& context);
  // The next reader computes them anew. Not while there are readers.
  void forget() {
    begun_ = false;
    computed_ = std::make_unique<Channel<int>>(0);
    rows_ = nullptr;
  }
  ReplayableRows& rows() { return *rows_; }
  Operator& plan() { return *plan_; }

 private:
  Task<void> collect(RunContext& context);

  OperatorPtr plan_;
  const std::vector<LogicalType> types_;
  int reads_ = 0;
  std::atomic<bool> begun_ = false;
  // Closed when the rows are there, failed when they could not be computed.
  std::unique_ptr<Channel<int>> computed_ = std::make_unique<Channel<int>>(0);
  std::shared_ptr<ReplayableRows> rows_;
};

class SharedReadOperator final : public Operator {
 public:
  // `places[i]` is the column of the shared plan behind layout()[i].
  SharedReadOperator(std::vector<ColumnId> layout, std::shared_ptr<SharedRows> rows, std::vector<size_t> places)
      : Operator(std::move(layout)), rows_(std::move(rows)), places_(std::move(places)) {}
  Task<void> produce(RunContext& context, ChunkSink& sink) override;

 private:
  std::shared_ptr<SharedRows> rows_;
  std::vector<size_t> places_;
};

}  // namespace pistachio
