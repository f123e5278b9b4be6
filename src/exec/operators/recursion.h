// WITH RECURSIVE: the rows of the initial query, then repeatedly those that the recursive query derives from the previous round, until a round
// is empty. UNION drops duplicates of earlier rows, UNION ALL keeps them. The number of rounds is bounded only by LIMIT and cancellation.
#pragma once

#include <memory>

#include "exec/core/operator.h"
#include "exec/operators/shared_rows.h"

namespace pistachio {

// The rows of the previous round. Written between rounds, read by the recursive query during a round.
struct WorkingRows {
  std::vector<Chunk> chunks;
};

class WorkingReadOperator final : public Operator {
 public:
  // `places[i]` is the column of the working rows behind layout()[i].
  WorkingReadOperator(std::vector<ColumnId> layout, std::shared_ptr<WorkingRows> rows, std::vector<size_t> places)
      : Operator(std::move(layout)), rows_(std::move(rows)), places_(std::move(places)) {}
  Task<void> produce(RunContext& context, ChunkSink& sink) override;

 private:
  std::shared_ptr<WorkingRows> rows_;
  std::vector<size_t> places_;
};

struct RecursionPlan {
  OperatorPtr first;
  OperatorPtr next;
  bool keeps_all = true;
  std::shared_ptr<WorkingRows> working;
  // Common tables that read the working rows: recomputed in each round.
  std::vector<std::shared_ptr<SharedRows>> in_rounds;
  std::vector<LogicalType> types;
};

class RecursionOperator final : public Operator {
 public:
  RecursionOperator(std::vector<ColumnId> layout, RecursionPlan plan) : Operator(std::move(layout)), plan_(std::move(plan)) {}
  Task<void> produce(RunContext& context, ChunkSink& sink) override;

 private:
  RecursionPlan plan_;
};

}  // namespace pistachio
