// Marks a point in an operator where tests can inject a fault (base/fault_plan.h). Does nothing in single-rank queries.
#pragma once

#include "exec/core/operator.h"
#include "network/exchange_hub.h"

namespace pistachio {

inline void reach(const RunContext& context, FaultPoint point) {
  if (context.exchanges != nullptr) context.exchanges->reach(point);
}

}  // namespace pistachio
