// The running values of one aggregate call for all groups of a table. Fed with rows and their groups, merged with states of other lanes,
// and turned into a column in the end. One thread at a time.
#pragma once

#include <memory>

#include "data/column.h"
#include "expr/aggregate_function.h"

namespace pistachio {

class AggregateState {
 public:
  virtual ~AggregateState() = default;

  // There are so many groups now.
  virtual void set_groups(int64_t groups) = 0;
  // ids int64 [rows]; `argument` has no rows for count(*).
  virtual void update(const at::Tensor& ids, const Column* argument) = 0;
  // Adds the groups `rows` of another state of the same call to the groups `ids` of this one.
  virtual void merge(const at::Tensor& ids, const AggregateState& other, const at::Tensor& rows) = 0;
  // The result of a call that this state serves.
  virtual Column finish(const AggregateCall& call, int64_t groups) const = 0;
  virtual int64_t memory_bytes() const = 0;
};

std::unique_ptr<AggregateState> make_aggregate_state(const AggregateCall& call, at::Device device);

// The type of the call's argument, or BIGINT for count(*).
LogicalType argument_type(const AggregateCall& call);

// Whether the state of the first call can serve the second one, too: sum(x), avg(x) and count(x) need the same sums and counts.
bool state_serves(const AggregateCall& first, const AggregateCall& second);

}  // namespace pistachio
