// What an aggregation keeps while it runs: the running values ("state") of its calls, and the columns they travel in when ranks add up
// their own rows first. How states add up is exec's affair (exec/operators/aggregate_state).
#pragma once

#include <vector>

#include "expr/aggregate_function.h"

namespace pistachio {

// The type of the call's argument, or BIGINT for count(*).
LogicalType argument_type(const AggregateCall& call);

// Whether the state of the first call can serve the second one, too: sum(x), avg(x) and count(x) need the same sums and counts.
bool state_serves(const AggregateCall& first, const AggregateCall& second);

// The calls whose states are kept, in order; the others are served by one of them.
struct AggregateStates {
  std::vector<AggregateCall> kept;
  std::vector<size_t> state_of_call;  // for each call, the place in `kept` of the one that serves it
};
AggregateStates share_states(const std::vector<AggregateCall>& calls);
std::vector<AggregateCall> calls_with_state(const std::vector<AggregateCall>& calls);

// The columns of a call's state.
std::vector<LogicalType> state_types(const AggregateCall& call);

// Whether ranks may add up their own rows first. DISTINCT needs to see all values of a group together.
bool can_aggregate_in_stages(const std::vector<AggregateCall>& calls);

}  // namespace pistachio
