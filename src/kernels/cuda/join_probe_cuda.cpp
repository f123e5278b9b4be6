// CUDA body of join_probe, on torch's current stream. It waits once per window of rows, mostly once.
#include "kernels/cuda/join_probe_cuda.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "kernels/cuda/kernel_call.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cuda {

namespace {

// Rows counted at a time: about as many as yield the requested pairs, so that little counting is wasted.
constexpr int64_t least_window = int64_t{1} << 16;
constexpr int64_t greatest_window = int64_t{1} << 24;

JoinProbe view(const at::Tensor& offsets, const at::Tensor& order, const at::Tensor& ordered_hashes, const at::Tensor& probe_hashes,
               const std::optional<at::Tensor>& probe_validity) {
  return {offsets.const_data_ptr<int64_t>(),
          order.const_data_ptr<int64_t>(),
          ordered_hashes.const_data_ptr<int64_t>(),
          std::countr_zero(static_cast<uint64_t>(offsets.size(0) - 1)),
          probe_hashes.const_data_ptr<int64_t>(),
          mask_of(probe_validity)};
}

at::Tensor concatenate(const std::vector<at::Tensor>& parts, const at::Tensor& like) {
  if (parts.empty()) return empty_words(like, 0);
  return parts.size() == 1 ? parts[0] : concatenate_tensors(parts);
}

std::tuple<at::Tensor, at::Tensor, int64_t> join_probe(const at::Tensor& offsets, const at::Tensor& order, const at::Tensor& ordered_hashes,
                                                       const at::Tensor& probe_hashes, const std::optional<at::Tensor>& probe_validity,
                                                       int64_t begin, int64_t most_pairs) {
  const KernelCall call(probe_hashes);
  const JoinProbe probe = view(offsets, order, ordered_hashes, probe_hashes, probe_validity);
  const int64_t rows = order.numel() == 0 ? 0 : probe_hashes.size(0);  // nothing matches an empty table
  std::vector<at::Tensor> probe_rows, build_rows;
  int64_t row = begin, left = most_pairs;
  while (row < rows && left > 0) {
    ScratchMemory scratch;
    const int64_t window_rows = std::min(rows - row, std::clamp(left, least_window, greatest_window));
    const ProbeWindow window = count_pairs(probe, row, window_rows, left, scratch, call.stream());
    if (window.pairs > 0) {
      probe_rows.push_back(empty_words(probe_hashes, window.pairs));
      build_rows.push_back(empty_words(probe_hashes, window.pairs));
      write_pairs(probe, window, probe_rows.back().mutable_data_ptr<int64_t>(), build_rows.back().mutable_data_ptr<int64_t>(),
                  call.stream());
    }
    row += window.rows;
    left -= window.pairs;
  }
  if (rows == 0) row = probe_hashes.size(0);
  return {concatenate(probe_rows, probe_hashes), concatenate(build_rows, probe_hashes), row};
}

}  // namespace

REGISTER_BODY(Cuda, "join_probe", join_probe);

}  // namespace pistachio::kernels::cuda
