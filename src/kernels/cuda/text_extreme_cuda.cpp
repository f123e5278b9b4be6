// CUDA bodies of segment_extreme_text, summarize_text and summarize_text_dictionary, on torch's current stream. The summaries synchronize
// once, for their result; segment_extreme_text never.
#include "kernels/cuda/text_extreme_cuda.h"

#include "kernels/cuda/cuda_status.h"
#include "kernels/cuda/device_readback.h"
#include "kernels/cuda/kernel_call.h"
#include "kernels/cuda/scratch_memory.h"
#include "kernels/cuda/text_column.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cuda {

namespace {

at::Tensor segment_extreme_text(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends, const at::Tensor& ids,
                                int64_t groups, bool take_max, const std::optional<at::Tensor>& validity) {
  const KernelCall call(bytes);
  at::Tensor best = empty_words(bytes, groups);
  find_extreme_texts(text_column(bytes, begins, ends), ids.const_data_ptr<int64_t>(), groups, take_max, mask_of(validity), ids.size(0),
                     best.mutable_data_ptr<int64_t>(), call.stream());
  return best;
}

// Lengths over `rows` values (looked up by code if there are codes), extremes over the considered entries.
at::Tensor summarize_column(const TextColumn& text, int64_t entries, const bool* considered, const int32_t* codes, const bool* valid,
                            int64_t rows, ScratchMemory& scratch, cudaStream_t stream) {
  constexpr int64_t words = 5;
  auto* totals = scratch.take<int64_t>(words);
  check_cuda(cudaMemsetAsync(totals, 0, words * sizeof(*totals), stream));
  add_text_lengths(text, codes, valid, rows, totals, stream);
  find_extreme_texts(text, nullptr, 1, false, considered, entries, totals + 3, stream);
  find_extreme_texts(text, nullptr, 1, true, considered, entries, totals + 4, stream);
  at::Tensor packed = at::empty({words}, at::kLong);
  read_back(totals, words, packed.mutable_data_ptr<int64_t>(), stream);
  return packed;
}

at::Tensor summarize_text(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends,
                          const std::optional<at::Tensor>& validity) {
  const KernelCall call(bytes);
  ScratchMemory scratch;
  const bool* valid = mask_of(validity);
  return summarize_column(text_column(bytes, begins, ends), begins.size(0), valid, nullptr, valid, begins.size(0), scratch, call.stream());
}

at::Tensor summarize_text_dictionary(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends, const at::Tensor& codes,
                                     const std::optional<at::Tensor>& validity) {
  const KernelCall call(bytes);
  ScratchMemory scratch;
  const int64_t entries = begins.size(0), rows = codes.size(0);
  const int32_t* code = codes.const_data_ptr<int32_t>();
  bool* used = scratch.take<bool>(entries);
  check_cuda(cudaMemsetAsync(used, 0, static_cast<size_t>(entries), call.stream()));
  mark_used_entries(code, mask_of(validity), rows, used, call.stream());
  return summarize_column(text_column(bytes, begins, ends), entries, used, code, mask_of(validity), rows, scratch, call.stream());
}

}  // namespace

REGISTER_BODY(Cuda, "segment_extreme_text", segment_extreme_text);
REGISTER_BODY(Cuda, "summarize_text", summarize_text);
REGISTER_BODY(Cuda, "summarize_text_dictionary", summarize_text_dictionary);

}  // namespace pistachio::kernels::cuda
