// The receiving end of an exchange: gives the rows that all ranks sent here.
#pragma once

#include "exec/operator.h"

namespace pistachio {

class ExchangeReadOperator final : public Operator {
 public:
  ExchangeReadOperator(std::vector<ColumnId> layout, size_t number) : Operator(std::move(layout)), number_(number) {}
  Task<void> produce(RunContext& context, ChunkSink& sink) override;

 private:
  size_t number_;
};

}  // namespace pistachio
