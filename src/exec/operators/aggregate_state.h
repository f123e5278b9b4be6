// Running state of one aggregate call for all groups of a table: updated with rows and their group ids, merged with the state of other lanes,
// finally turned into a result column. Not thread-safe.
#pragma once

#include <memory>
#include <vector>

#include "data/column.h"
#include "physical/aggregate_stages.h"

namespace pistachio {

class AggregateState {
 public:
  virtual ~AggregateState() = default;

  // There are so many groups now.
  virtual void set_groups(int64_t groups) = 0;
  // ids int64 [rows]; `argument` has no rows for count(*). `fit`: what fits(argument) answered; false makes it check.
  virtual void update(const at::Tensor& ids, const Column* argument, bool fit = false) = 0;
  // Whether no sum can overflow. A deferrable check (kernels/ops/deferred_checks.h).
  virtual bool fits(const Column& /*argument*/) const { return true; }
  // What another state of the same call needs to take over the groups `rows` (int64): columns of state_types(call).
  virtual std::vector<Column> columns_of(const at::Tensor& rows) const = 0;
  // Adds such columns to the groups `ids` of this state.
  virtual void add(const at::Tensor& ids, const std::vector<Column>& columns) = 0;
  // The result of a call that this state serves.
  virtual Column finish(const AggregateCall& call, int64_t groups) const = 0;
  virtual int64_t memory_bytes() const = 0;
};

std::unique_ptr<AggregateState> make_aggregate_state(const AggregateCall& call, at::Device device);

}  // namespace pistachio
