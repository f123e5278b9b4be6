// Reference body of range_distinct: a scalar loop on the host that counts the occurrences of each id, for any device. A range that does not
// contain the one before it is counted anew.

#include <map>

#include "kernels/ops/body_table.h"
#include "kernels/ops/stop_flag.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::composite {

namespace {

// The rows of one part of the ranges, in a map that all parts share.
class CountedPart {
 public:
  CountedPart(std::map<int64_t, int64_t>& occurrences, const at::Tensor& ids, const at::Tensor& valid)
      : occurrences_(occurrences), ids_(ids.const_data_ptr<int64_t>()), valid_(valid.const_data_ptr<bool>()) {}

  void count(int64_t begin, int64_t end) {
    if (end < begin) end = begin;
    const bool moves_on = first_ <= begin && begin <= last_ && last_ <= end;
    if (!moves_on) {
      while (last_ > first_) forget(--last_);
      first_ = last_ = begin;
    }
    while (last_ < end) {
      if (valid_[last_]) ++occurrences_[ids_[last_]];
      ++last_;
    }
    while (first_ < begin) forget(first_++);
  }

 private:
  void forget(int64_t row) {
    if (!valid_[row]) return;
    auto found = occurrences_.find(ids_[row]);
    if (--found->second == 0) occurrences_.erase(found);
  }

  std::map<int64_t, int64_t>& occurrences_;
  const int64_t* ids_;
  const bool* valid_;
  int64_t first_ = 0;
  int64_t last_ = 0;
};

at::Tensor range_distinct(const at::Tensor& ids, const std::optional<at::Tensor>& validity, const at::Tensor& begins, const at::Tensor& ends,
                          int64_t, const std::optional<at::Tensor>& stop) {
  const StopCheck check(stop);
  const at::Tensor host_ids = ids.cpu(), host_begins = begins.cpu(), host_ends = ends.cpu();
  const at::Tensor valid = validity ? validity->cpu() : at::ones({ids.numel()}, at::kBool);
  const auto begin = host_begins.accessor<int64_t, 2>(), end = host_ends.accessor<int64_t, 2>();
  std::map<int64_t, int64_t> occurrences;
  std::vector<CountedPart> parts(static_cast<size_t>(begins.size(0)), CountedPart(occurrences, host_ids, valid));
  at::Tensor distinct = at::empty({begins.size(1)}, at::kLong);
  for (int64_t range = 0; range < begins.size(1); ++range) {
    if (range % 4096 == 0) check();
    for (size_t part = 0; part < parts.size(); ++part)
      parts[part].count(begin[static_cast<int64_t>(part)][range], end[static_cast<int64_t>(part)][range]);
    distinct.mutable_data_ptr<int64_t>()[range] = static_cast<int64_t>(occurrences.size());
  }
  return distinct.to(ids.device());
}

}  // namespace

REGISTER_BODY(Composite, "range_distinct", range_distinct);

}  // namespace pistachio::kernels::composite
