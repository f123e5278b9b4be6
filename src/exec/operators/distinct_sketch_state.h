// approx_count_distinct(): for a group with few distinct values the set of their hashes, which counts them exactly; for others a
// HyperLogLog sketch (kernels/ops/segment_sketch.h). The number of distinct hashes decides between the two, so the result depends only on
// the values, not on row order, lanes or ranks. Equal values have equal hashes, whether dictionary-coded or not.
//
// The sets of all groups are one table of (group, hash). When a group gets a sketch, its entries become stale but stay in the table until
// half of the table is stale, or until the state is read. Concurrent reads are safe; nothing else is.
#pragma once

#include <memory>
#include <mutex>

#include "exec/operators/aggregate_state.h"
#include "exec/operators/group_table.h"

namespace pistachio {

class DistinctSketchState final : public AggregateState {
 public:
  explicit DistinctSketchState(at::Device device);

  void set_groups(int64_t groups) override;
  bool takes_codes() const override { return true; }
  void update(const GroupedRows& rows) override;
  // BLOB: the hashes of a set, eight bytes each, or the registers of a sketch. The size tells them apart: a sketch is larger.
  std::vector<Column> columns_of(const at::Tensor& rows) const override;
  void add(const at::Tensor& ids, const std::vector<Column>& columns) override;
  Column finish(const AggregateCall& call, int64_t groups) const override;
  int64_t memory_bytes() const override;
  int64_t most_bytes_with(int64_t rows) const override;

 private:
  // The sets, ordered by group.
  struct Sets {
    at::Tensor hashes;
    at::Tensor ends;  // where each group's hashes end
  };

  void insert(const at::Tensor& ids, const at::Tensor& hashes);
  void insert_strip(at::Tensor ids, at::Tensor hashes);
  void merge_sketches(const at::Tensor& ids, const at::Tensor& sketches);
  // Gives a sketch to those of the groups (int64) that have none.
  void start_sketches(const at::Tensor& groups);
  void drop_stale_entries();
  // Adds the stale entries to their sketches. Returns which entries are stale (bool).
  at::Tensor sketch_stale_entries() const;
  at::Tensor used_registers() const { return registers_.narrow(0, 0, sketches_); }
  Sets sets() const;

  at::Device device_;
  int64_t groups_ = 0;
  std::unique_ptr<GroupTable> entries_;
  at::Tensor counts_;     // by group: distinct hashes among its entries
  at::Tensor sketch_of_;  // by group: 1 + the index of its sketch; 0: none
  at::Tensor registers_;
  int64_t sketches_ = 0;
  int64_t stale_ = 0;  // number of entries whose group has a sketch
  mutable std::mutex mutex_;
  mutable std::unique_ptr<const Sets> sets_;  // made by the first reader; guarded by mutex_ while the state is read
};

}  // namespace pistachio
