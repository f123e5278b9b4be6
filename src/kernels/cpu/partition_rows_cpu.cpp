// CPU body of partition_rows: a counting sort.
#include <ATen/ATen.h>
#include <torch/library.h>

#include <numeric>
#include <vector>

#include "kernels/cpu/line_scatter.h"

namespace pistachio::kernels::cpu {

namespace {

// Rows of one partition that follow each other would wait for each other's counts: two counters take them in turn.
void count_partitions(const uint64_t* hashes, int64_t rows, int64_t shift, std::vector<int64_t>& counts) {
  std::vector<int64_t> others(counts.size());
  int64_t row = 0;
  for (; row + 2 <= rows; row += 2) {
    ++counts[hashes[row] >> shift];
    ++others[hashes[row + 1] >> shift];
  }
  if (row < rows) ++counts[hashes[row] >> shift];
  for (size_t i = 0; i < counts.size(); ++i) counts[i] += others[i];
}

std::tuple<at::Tensor, at::Tensor> partition_rows(const at::Tensor& hashes, int64_t bits) {
  const int64_t rows = hashes.numel(), partitions = int64_t{1} << bits;
  if (bits == 0) return {at::arange(rows, at::kLong), at::tensor({int64_t{0}, rows}, at::kLong)};
  const uint64_t* words = reinterpret_cast<const uint64_t*>(hashes.const_data_ptr<int64_t>());
  const int64_t shift = 64 - bits;
  std::vector<int64_t> cursors(static_cast<size_t>(partitions));
  count_partitions(words, rows, shift, cursors);
  at::Tensor order = at::empty({rows}, at::kLong), offsets = at::empty({partitions + 1}, at::kLong);
  int64_t* bounds = offsets.mutable_data_ptr<int64_t>();
  std::exclusive_scan(cursors.begin(), cursors.end(), cursors.begin(), int64_t{0});
  std::copy(cursors.begin(), cursors.end(), bounds);
  bounds[partitions] = rows;
  int64_t* out = order.mutable_data_ptr<int64_t>();
  if (rows > LineScatter::cached_words) {
    LineScatter lines(reinterpret_cast<uint64_t*>(out), std::move(cursors));
    for (int64_t row = 0; row < rows; ++row) lines.put(words[row] >> shift, static_cast<uint64_t>(row));
    lines.finish();
    return {order, offsets};
  }
  int64_t* places = cursors.data();
  for (int64_t row = 0; row < rows; ++row) out[places[words[row] >> shift]++] = row;
  return {order, offsets};
}

}  // namespace

TORCH_LIBRARY_IMPL(pistachio, CPU, library) {
  library.impl("partition_rows", TORCH_FN(partition_rows));
}

}  // namespace pistachio::kernels::cpu
