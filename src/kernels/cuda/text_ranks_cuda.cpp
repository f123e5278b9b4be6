// CUDA body of text_ranks, on torch's current stream. Synchronizes once.
#include "kernels/cuda/text_ranks_cuda.h"

#include "kernels/cuda/kernel_call.h"
#include "kernels/cuda/text_column.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/stop_flag.h"

namespace pistachio::kernels::cuda {

namespace {

at::Tensor text_ranks(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends, const std::optional<at::Tensor>& stop) {
  StopCheck{stop}();
  const KernelCall call(bytes);
  ScratchMemory scratch;
  at::Tensor ranks = empty_words(bytes, begins.size(0));
  rank_texts(text_column(bytes, begins, ends), begins.size(0), ranks.mutable_data_ptr<int64_t>(), scratch, call.stream());
  return ranks;
}

}  // namespace

REGISTER_BODY(Cuda, "text_ranks", text_ranks);

}  // namespace pistachio::kernels::cuda
