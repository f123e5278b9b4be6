// One value of any type per group, replaced as better ones arrive; texts are in one growing buffer. The cost of a batch depends on its
// rows, not on the number of groups. Not thread-safe.
#pragma once

#include <vector>

#include "data/column.h"

namespace pistachio {

class GroupValues {
 public:
  GroupValues(LogicalType type, at::Device device);

  void set_groups(int64_t groups);
  int64_t groups() const { return groups_; }
  // A row for each group, NULL if it has no value; shares memory with this object and is valid until the next replace().
  Column view() const;
  // `groups` (int64) are distinct; `values` has one row per group, without NULLs, and is not dictionary-coded.
  void replace(const at::Tensor& groups, const Column& values);
  // A copy of the first `groups` rows.
  Column finish(int64_t groups) const;
  int64_t memory_bytes() const;

 private:
  void replace_texts(const at::Tensor& groups, const Column& texts);
  void compact();

  LogicalType type_;
  int64_t groups_ = 0;
  at::Tensor values_;  // or begins of text
  at::Tensor ends_;    // of text
  at::Tensor seen_;    // whether the group has a value
  at::Tensor bytes_;
  int64_t used_ = 0;  // bytes of text in the buffer, including replaced values
  int64_t live_ = 0;
};

}  // namespace pistachio
