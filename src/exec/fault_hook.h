// One line where an operator passes a point at which a test may let the rank fail (base/fault_plan.h). Nothing happens in queries of one
// rank.
#pragma once

#include "exec/operator.h"
#include "network/exchange_hub.h"

namespace pistachio {

inline void reach(const RunContext& context, FaultPoint point) {
  if (context.exchanges != nullptr) context.exchanges->reach(point);
}

}  // namespace pistachio
