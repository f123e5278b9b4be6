// approx_count_distinct(): for a group with few different values the set of their hashes, which counts them exactly; for others a HyperLogLog
// sketch (kernels/ops/segment_sketch.h). The number of different hashes decides between the two, so that the result depends only on the
// values, not on their order, on lanes or on ranks. Equal values have equal hashes, coded or not.
//
// The sets of all groups are one table of (group, hash). When a group gets its sketch, its entries stay there until they are half of the
// table, or until somebody reads the state. Reading from several threads is safe; nothing else is.
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
  // BLOB: the hashes of a set, eight bytes each, or the registers of a sketch, which are more.
  std::vector<Column> columns_of(const at::Tensor& rows) const override;
  void add(const at::Tensor& ids, const std::vector<Column>& columns) override;
  Column finish(const AggregateCall& call, int64_t groups) const override;
  int64_t memory_bytes() const override;
  int64_t most_bytes_with(int64_t rows) const override;

 private:
  // The sets in order of their groups.
  struct Sets {
    at::Tensor hashes;
    at::Tensor ends;  // of each group's hashes
  };

  void insert(const at::Tensor& ids, const at::Tensor& hashes);
  void insert_strip(at::Tensor ids, at::Tensor hashes);
  void merge_sketches(const at::Tensor& ids, const at::Tensor& sketches);
  // Gives those of the groups (int64) a sketch that have none.
  void start_sketches(const at::Tensor& groups);
  void drop_stale_entries();
  // Of each entry, whether its group has a sketch; adds those entries to the sketches.
  at::Tensor sketch_stale_entries() const;
  at::Tensor used_registers() const { return registers_.narrow(0, 0, sketches_); }
  Sets sets() const;

  at::Device device_;
  int64_t groups_ = 0;
  std::unique_ptr<GroupTable> entries_;
  at::Tensor counts_;     // of each group: different hashes among its entries
  at::Tensor sketch_of_;  // of each group: 1 + the place of its sketch; 0: it has none
  at::Tensor registers_;
  int64_t sketches_ = 0;
  int64_t stale_ = 0;  // entries of groups that have a sketch
  mutable std::mutex mutex_;
  mutable std::unique_ptr<const Sets> sets_;  // made by the first reader; guarded by mutex_ while the state is read
};

}  // namespace pistachio
