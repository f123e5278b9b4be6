// CUDA body of delta_text_expand: synchronizes once, for errors and the size of the output.
#include <c10/cuda/CUDAGuard.h>
#include <fmt/format.h>

#include "base/error.h"
#include "kernels/cuda/decode_status.h"
#include "kernels/cuda/delta_text_expand_cuda.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cuda {

namespace {

std::tuple<at::Tensor, at::Tensor, at::Tensor> delta_text_expand(const at::Tensor& bytes, const at::Tensor& prefix_lengths,
                                                                 const at::Tensor& suffix_begins, const at::Tensor& suffix_ends,
                                                                 int64_t max_output_bytes) {
  const c10::cuda::CUDAGuard guard(bytes.device());
  const int64_t count = prefix_lengths.numel();
  at::Tensor begins = at::empty({count}, prefix_lengths.options()), ends = at::empty({count}, prefix_lengths.options());
  if (count == 0) return {at::empty({0}, bytes.options()), begins, ends};
  const DeltaText text{.bytes = bytes.const_data_ptr<uint8_t>(),
                       .size = bytes.numel(),
                       .prefixes = prefix_lengths.const_data_ptr<int64_t>(),
                       .from = suffix_begins.const_data_ptr<int64_t>(),
                       .to = suffix_ends.const_data_ptr<int64_t>(),
                       .count = count};
  const size_t scratch_bytes = delta_text_scratch_bytes(count);
  at::Tensor scratch = at::empty({static_cast<int64_t>(scratch_bytes)}, bytes.options());
  at::Tensor least_prefixes = at::empty({delta_text_segments(count)}, prefix_lengths.options());
  DecodeStatus status(1);
  check_launch(measure_delta_text(text, max_output_bytes, ends.mutable_data_ptr<int64_t>(), least_prefixes.mutable_data_ptr<int64_t>(),
                                  scratch.mutable_data_ptr(), scratch_bytes, status.results(), status.failure(), status.stream()));
  const DecodeFailure failure = status.finish();
  if (failure.problem != DecodeProblem::None) {
    const char* problem = failure.problem == DecodeProblem::SuffixOutOfRange ? "a suffix outside the page"
                                                                             : "a prefix longer than the value before it";
    throw DataError(problem, {.offset = suffix_begins[failure.offset].item<int64_t>()});
  }
  const int64_t total = *status.host_results().const_data_ptr<int64_t>();
  if (total > max_output_bytes) throw DataError(fmt::format("text expands to more than {} bytes", max_output_bytes), {});
  at::Tensor expanded = at::empty({total}, bytes.options());
  check_launch(expand_delta_text(text, ends.const_data_ptr<int64_t>(), least_prefixes.const_data_ptr<int64_t>(),
                                 expanded.mutable_data_ptr<uint8_t>(), begins.mutable_data_ptr<int64_t>(), status.stream()));
  return {expanded, begins, ends};
}

}  // namespace

REGISTER_BODY(Cuda, "delta_text_expand", delta_text_expand);

}  // namespace pistachio::kernels::cuda
