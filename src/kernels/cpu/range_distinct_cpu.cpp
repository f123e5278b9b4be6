// CPU body of range_distinct: counts the occurrences of each id while rows enter and leave the ranges.

#include <vector>

#include "kernels/cpu/sliding_range.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

namespace {

struct DistinctTotal {
  const int64_t* ids;
  const bool* validity;  // null: no NULLs
  std::vector<int64_t> occurrences;
  int64_t distinct = 0;

  void add(int64_t row) {
    if (validity != nullptr && !validity[row]) return;
    distinct += occurrences[static_cast<size_t>(ids[row])]++ == 0;
  }
  void remove(int64_t row) {
    if (validity != nullptr && !validity[row]) return;
    distinct -= --occurrences[static_cast<size_t>(ids[row])] == 0;
  }
};

at::Tensor range_distinct(const at::Tensor& ids, const std::optional<at::Tensor>& validity, const at::Tensor& begins, const at::Tensor& ends,
                          int64_t values, const std::optional<at::Tensor>& stop) {
  const Ranges ranges(begins, ends);
  DistinctTotal total{ids.const_data_ptr<int64_t>(), validity ? validity->const_data_ptr<bool>() : nullptr,
                      std::vector<int64_t>(static_cast<size_t>(values))};
  at::Tensor distinct = at::empty({ranges.count}, at::kLong);
  int64_t* out = distinct.mutable_data_ptr<int64_t>();
  total_all(total, ranges, stop, [&](int64_t range) { out[range] = total.distinct; });
  return distinct;
}

}  // namespace

REGISTER_BODY(Cpu, "range_distinct", range_distinct);

}  // namespace pistachio::kernels::cpu
