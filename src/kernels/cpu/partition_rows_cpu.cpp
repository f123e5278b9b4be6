// CPU body of partition_rows: a counting sort.
#include "kernels/cpu/counting_sort.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

namespace {

std::tuple<at::Tensor, at::Tensor> partition_rows(const at::Tensor& hashes, int64_t bits, const std::optional<at::Tensor>& stop) {
  const int64_t rows = hashes.numel(), shift = 64 - bits;
  if (bits == 0) return {at::arange(rows, at::kLong), at::tensor({int64_t{0}, rows}, at::kLong)};
  const uint64_t* words = reinterpret_cast<const uint64_t*>(hashes.const_data_ptr<int64_t>());
  const auto part_of = [=](int64_t row) -> size_t { return words[row] >> shift; };
  return sort_into_parts(rows, int64_t{1} << bits, part_of, StopCheck(stop));
}

}  // namespace

REGISTER_BODY(Cpu, "partition_rows", partition_rows);

}  // namespace pistachio::kernels::cpu
