// Receiving ends of order-preserving exchanges: MergeRead merges the sorted rows of all ranks, RankByRankRead concatenates the ranks' rows in rank
// order. Both run on a single lane.
#pragma once

#include "exec/core/operator.h"
#include "exec/core/row_order.h"

namespace pistachio {

class MergeReadOperator final : public Operator {
 public:
  MergeReadOperator(std::vector<ColumnId> layout, size_t number, const std::vector<SortKey>& order, std::vector<LogicalType> types)
      : Operator(std::move(layout)), number_(number), order_(order, layout_), types_(std::move(types)) {}
  Task<void> produce(RunContext& context, ChunkSink& sink) override;

 private:
  size_t number_;
  RowOrder order_;
  std::vector<LogicalType> types_;
};

class RankByRankReadOperator final : public Operator {
 public:
  RankByRankReadOperator(std::vector<ColumnId> layout, size_t number) : Operator(std::move(layout)), number_(number) {}
  Task<void> produce(RunContext& context, ChunkSink& sink) override;

 private:
  size_t number_;
};

}  // namespace pistachio
