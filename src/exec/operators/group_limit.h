// Rows [offset, offset + limit) of each group in sort order: LIMIT in a correlated subquery, and DISTINCT ON. Groups and sort keys become words,
// one kernel call sorts them, and a row's position in its group is its distance from the group's first row. While collecting, lanes drop
// rows that can no longer qualify.
#pragma once

#include <optional>

#include "exec/core/operator.h"
#include "physical/physical_node.h"

namespace pistachio {

class GroupLimitOperator final : public Operator {
 public:
  GroupLimitOperator(OperatorPtr input, PhysicalGroupLimit plan, std::vector<LogicalType> types);
  Task<void> produce(RunContext& context, ChunkSink& sink) override;

 private:
  class Collector;

  // int64: the rows whose position in their group is in [first, first + count), or at least `first` without a count.
  at::Tensor rows_at(const Chunk& rows, int64_t first, std::optional<int64_t> count, const CancelToken& token) const;

  OperatorPtr input_;
  PhysicalGroupLimit plan_;
  std::vector<LogicalType> types_;
  std::vector<size_t> group_places_;
};

}  // namespace pistachio
