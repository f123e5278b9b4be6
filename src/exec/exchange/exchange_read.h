// Receiving end of an exchange: produces the rows that all ranks sent to this one.
#pragma once

#include "exec/core/operator.h"

namespace pistachio {

class ExchangeReadOperator final : public Operator {
 public:
  ExchangeReadOperator(std::vector<ColumnId> layout, size_t number) : Operator(std::move(layout)), number_(number) {}
  Task<void> produce(RunContext& context, ChunkSink& sink) override;

 private:
  size_t number_;
};

}  // namespace pistachio
