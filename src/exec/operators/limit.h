// LIMIT and OFFSET: rows [offset, offset + limit) in arrival order. Stops its producers once it has them.
#pragma once

#include <optional>

#include "exec/core/operator.h"

namespace pistachio {

class LimitOperator final : public Operator {
 public:
  LimitOperator(OperatorPtr input, std::optional<int64_t> limit, int64_t offset);
  Task<void> produce(RunContext& context, ChunkSink& sink) override;

 private:
  OperatorPtr input_;
  int64_t limit_;
  int64_t offset_;
};

}  // namespace pistachio
