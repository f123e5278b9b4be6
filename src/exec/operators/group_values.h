// One value of any type for each group, replaced as better ones arrive; texts are in one growing buffer. A batch costs time for its own rows,
// however many groups there are. Not thread-safe.
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
  // `groups` (int64) has no group twice; `values` has a row for each, none is NULL, and is not coded.
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
  int64_t used_ = 0;  // bytes: those of the values, and those of values that were replaced
  int64_t live_ = 0;
};

}  // namespace pistachio
