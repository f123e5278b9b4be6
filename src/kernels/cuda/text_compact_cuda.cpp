// CUDA body of text_compact: synchronizes once, for the size of the output, unless the caller knows it.
#include <c10/cuda/CUDAGuard.h>

#include "kernels/cuda/decode_status.h"
#include "kernels/cuda/device_readback.h"
#include "kernels/cuda/text_compact_cuda.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cuda {

namespace {

std::tuple<at::Tensor, at::Tensor> text_compact(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends,
                                                int64_t room) {
  const c10::cuda::CUDAGuard guard(bytes.device());
  const int64_t count = begins.numel();
  if (count == 0) return {at::empty({0}, bytes.options()), at::zeros({1}, begins.options())};
  at::Tensor offsets = at::empty({count + 1}, begins.options());
  const size_t scratch_bytes = text_offsets_scratch_bytes(count);
  at::Tensor scratch = at::empty({static_cast<int64_t>(scratch_bytes)}, bytes.options());
  const c10::cuda::CUDAStream stream = c10::cuda::getCurrentCUDAStream();
  check_launch(sum_text_lengths(begins.const_data_ptr<int64_t>(), ends.const_data_ptr<int64_t>(), count,
                                offsets.mutable_data_ptr<int64_t>(), scratch.mutable_data_ptr(), scratch_bytes, stream));
  if (room < 0) read_back(offsets.const_data_ptr<int64_t>() + count, 1, &room, stream);
  at::Tensor compacted = at::empty({room}, bytes.options());
  check_launch(copy_text(bytes.const_data_ptr<uint8_t>(), begins.const_data_ptr<int64_t>(), offsets.const_data_ptr<int64_t>(), count, room,
                         compacted.mutable_data_ptr<uint8_t>(), stream));
  return {compacted, offsets};
}

}  // namespace

REGISTER_BODY(Cuda, "text_compact", text_compact);

}  // namespace pistachio::kernels::cuda
