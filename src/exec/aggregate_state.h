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
  virtual Column finish(int64_t groups) const = 0;
  virtual int64_t memory_bytes() const = 0;
};

// `argument` is the type of the call's argument, or BIGINT for count(*).
std::unique_ptr<AggregateState> make_aggregate_state(AggregateKind kind, LogicalType argument, LogicalType result, at::Device device);

}  // namespace pistachio
