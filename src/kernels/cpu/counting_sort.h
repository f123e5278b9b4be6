// Stable counting sort of row numbers by partition, the core of partition_rows and route_rows. Evaluates the partition of every row twice,
// to count and to place. Raw memory, one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/cpu/line_scatter.h"
#include "kernels/ops/stop_flag.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

// Two counters, used alternately, break the dependency between consecutive rows of one partition.
template <typename PartOf>
std::vector<int64_t> count_rows_of_parts(int64_t rows, int64_t parts, const PartOf& part_of, const StopCheck& stop) {
  std::vector<int64_t> counts(static_cast<size_t>(parts)), others(static_cast<size_t>(parts));
  for_each_strip(rows, stop, [&](int64_t row, int64_t end) {
    for (; row + 2 <= end; row += 2) {
      ++counts[part_of(row)];
      ++others[part_of(row + 1)];
    }
    if (row < end) ++counts[part_of(row)];
  });
  for (size_t i = 0; i < counts.size(); ++i) counts[i] += others[i];
  return counts;
}

// part_of(row), a size_t below `parts`, is the row's partition. Returns (order int64 [rows], offsets int64 [parts + 1]): partition p
// consists of rows order[offsets[p], offsets[p + 1]), ascending.
template <typename PartOf>
std::tuple<at::Tensor, at::Tensor> sort_into_parts(int64_t rows, int64_t parts, const PartOf& part_of, const StopCheck& stop) {
  std::vector<int64_t> cursors = count_rows_of_parts(rows, parts, part_of, stop);
  at::Tensor order = at::empty({rows}, at::kLong), offsets = at::empty({parts + 1}, at::kLong);
  int64_t* bounds = offsets.mutable_data_ptr<int64_t>();
  std::exclusive_scan(cursors.begin(), cursors.end(), cursors.begin(), int64_t{0});
  std::copy(cursors.begin(), cursors.end(), bounds);
  bounds[parts] = rows;
  int64_t* out = order.mutable_data_ptr<int64_t>();
  if (rows > LineScatter::cached_words) {
    LineScatter lines(reinterpret_cast<uint64_t*>(out), std::move(cursors));
    for_each_strip(rows, stop, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) lines.put(part_of(row), static_cast<uint64_t>(row));
    });
    lines.finish();
    return {order, offsets};
  }
  int64_t* places = cursors.data();
  for (int64_t row = 0; row < rows; ++row) out[places[part_of(row)]++] = row;
  return {order, offsets};
}

}  // namespace pistachio::kernels::cpu
