// CPU body of route_rows: a counting sort over the table of owners.
#include <ATen/core/Tensor.h>

#include <bit>
#include <vector>

#include "base/check.h"
#include "kernels/cpu/counting_sort.h"
#include "kernels/ops/body_table.h"

namespace pistachio::kernels::cpu {

namespace {

// Checked and narrowed, so that a table of the usual size stays in L1 next to the cursors.
std::vector<uint16_t> narrow_owners(const at::Tensor& owners, int64_t ranks) {
  const int64_t* given = owners.const_data_ptr<int64_t>();
  std::vector<uint16_t> narrow(static_cast<size_t>(owners.numel()));
  for (size_t bucket = 0; bucket < narrow.size(); ++bucket) {
    ENSURE(given[bucket] >= 0 && given[bucket] < ranks, "bucket {} belongs to rank {} of {}", bucket, given[bucket], ranks);
    narrow[bucket] = static_cast<uint16_t>(given[bucket]);
  }
  return narrow;
}

std::tuple<at::Tensor, at::Tensor> route_rows(const at::Tensor& hashes, const at::Tensor& owners, int64_t ranks) {
  const std::vector<uint16_t> table = narrow_owners(owners, ranks);
  const int64_t rows = hashes.numel();
  const StopCheck never_stops(std::nullopt);  // the rows of one chunk
  if (table.size() == 1) return sort_into_parts(rows, ranks, [owner = table[0]](int64_t) -> size_t { return owner; }, never_stops);
  const int shift = 64 - std::countr_zero(table.size());
  const uint64_t* words = reinterpret_cast<const uint64_t*>(hashes.const_data_ptr<int64_t>());
  const uint16_t* owner_of = table.data();
  return sort_into_parts(rows, ranks, [=](int64_t row) -> size_t { return owner_of[words[row] >> shift]; }, never_stops);
}

}  // namespace

REGISTER_BODY(Cpu, "route_rows", route_rows);

}  // namespace pistachio::kernels::cpu
