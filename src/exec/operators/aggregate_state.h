// Running state of one aggregate call for all groups of a table: updated with rows and their group ids, merged with the state of other lanes,
// finally turned into a result column. Not thread-safe.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "data/column.h"
#include "physical/aggregate_stages.h"

namespace pistachio {

// Rows per group of a batch. Computed by the first call that needs it and shared with the others.
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
  GroupSizes* sizes = nullptr;       // of `ids`; null if not worth sharing
  bool fit = false;                  // the result of fits(argument); if false, update() checks again
};

class AggregateState {
 public:
  virtual ~AggregateState() = default;

  // Grows the state to this number of groups.
  virtual void set_groups(int64_t groups) = 0;
  virtual void update(const GroupedRows& rows) = 0;
  // Whether update() accepts dictionary-coded arguments without decoding.
  virtual bool takes_codes() const { return false; }
  // Whether no sum can overflow. A deferrable check (kernels/ops/deferred_checks.h).
  virtual bool fits(const Column& /*argument*/) const { return true; }
  // Serializes the states of the groups `rows` (int64) as columns of state_types(call).
  virtual std::vector<Column> columns_of(const at::Tensor& rows) const = 0;
  // Merges such columns into the groups `ids` of this state.
  virtual void add(const at::Tensor& ids, const std::vector<Column>& columns) = 0;
  // The result column of a call that uses this state.
  virtual Column finish(const AggregateCall& call, int64_t groups) const = 0;
  virtual int64_t memory_bytes() const = 0;
  // Upper bound on memory_bytes() while `rows` rows are added that may all be new groups; an estimate for values of variable size.
  virtual int64_t most_bytes_with(int64_t rows) const;
};

std::unique_ptr<AggregateState> make_aggregate_state(const AggregateCall& call, at::Device device);

}  // namespace pistachio
