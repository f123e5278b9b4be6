// A CTE that is read several times: computed by its first reader, retained (replayable_rows.h), and replayed for the others. A CTE that is
// read once is streamed to its reader and stops early once the reader is full.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "exec/operators/replayable_rows.h"
#include "memory/channel.h"

namespace pistachio {

// The CTE's plan and, during a run, its rows. The first reader computes them; others wait.
class SharedRows {
 public:
  SharedRows(OperatorPtr plan, std::vector<LogicalType> types) : plan_(std::move(plan)), types_(std::move(types)) {}

  // Called while the plan is built. `often`: the reader is in a part of the plan that runs more than once.
  void add_reader(bool often) { reads_ += often ? 2 : 1; }
  bool is_read_once() const { return reads_ == 1; }

  // Returns once the rows are computed.
  Task<void> compute(RunContext& context);
  // Drops the rows: the next reader recomputes them. Must not be called while rows are being read.
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
  // Closed once the rows are computed, failed if they could not be.
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
