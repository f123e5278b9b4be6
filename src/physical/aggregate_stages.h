// The running values ("state") of aggregate calls, and the columns that carry them between ranks that pre-aggregate their own rows.
// exec/operators/aggregate_state computes them.
#pragma once

#include <vector>

#include "expr/aggregate_function.h"

namespace pistachio {

// The type of the call's argument, or BIGINT for count(*).
LogicalType argument_type(const AggregateCall& call);

// Whether the calls can share the state of the first: sum(x), avg(x) and count(x) need the same sums and counts.
bool state_serves(const AggregateCall& first, const AggregateCall& second);

// The calls that have a state of their own, in order; the others share one of them.
struct AggregateStates {
  std::vector<AggregateCall> kept;
  std::vector<size_t> state_of_call;  // for each call, the index in `kept` of its state
};
AggregateStates share_states(const std::vector<AggregateCall>& calls);
std::vector<AggregateCall> calls_with_state(const std::vector<AggregateCall>& calls);

// The columns of a call's state.
std::vector<LogicalType> state_types(const AggregateCall& call);

// Whether ranks may pre-aggregate their own rows. DISTINCT needs all values of a group in one place.
bool can_aggregate_in_stages(const std::vector<AggregateCall>& calls);

}  // namespace pistachio
