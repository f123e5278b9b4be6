// Running state of one aggregate call for all groups of a table: updated with rows and their group ids, merged with the state of other lanes,
// finally turned into a result column. Not thread-safe.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "data/column.h"
#include "physical/aggregate_stages.h"

namespace pistachio {

// The number of rows of a batch in each group. Several calls need it and share it; computed by the first.
class GroupSizes {
 public:
  GroupSizes(at::Tensor ids, int64_t groups) : ids_(std::move(ids)), groups_(groups) {}
  const at::Tensor& get();  // int64 [groups]

 private:
  at::Tensor ids_;
  int64_t groups_;
  at::Tensor sizes_;
};

// A batch of rows for one call.
struct GroupedRows {
  at::Tensor ids;                    // int64 [rows]
  const Column* argument = nullptr;  // null: count(*)
  GroupSizes* sizes = nullptr;       // of `ids`; null if it is not worth sharing
  bool fit = false;                  // what fits(argument) answered; false makes update() check
};

class AggregateState {
 public:
  virtual ~AggregateState() = default;

  // There are so many groups now.
  virtual void set_groups(int64_t groups) = 0;
  virtual void update(const GroupedRows& rows) = 0;
  // Whether update() takes dictionary-coded arguments as they are.
  virtual bool takes_codes() const { return false; }
  // Whether no sum can overflow. A deferrable check (kernels/ops/deferred_checks.h).
  virtual bool fits(const Column& /*argument*/) const { return true; }
  // What another state of the same call needs to take over the groups `rows` (int64): columns of state_types(call).
  virtual std::vector<Column> columns_of(const at::Tensor& rows) const = 0;
  // Adds such columns to the groups `ids` of this state.
  virtual void add(const at::Tensor& ids, const std::vector<Column>& columns) = 0;
  // The result of a call that this state serves.
  virtual Column finish(const AggregateCall& call, int64_t groups) const = 0;
  virtual int64_t memory_bytes() const = 0;
  // While so many rows are added and all of them are new groups, at most; a guess where values have no fixed size.
  virtual int64_t most_bytes_with(int64_t rows) const;
};

std::unique_ptr<AggregateState> make_aggregate_state(const AggregateCall& call, at::Device device);

}  // namespace pistachio
