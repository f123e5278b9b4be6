// CUDA bodies of append_digit and present_places, on torch's current stream. Only present_places synchronizes: the size of its result is
// the number of different places.
#include "kernels/cuda/key_places_cuda.h"

#include "kernels/cuda/cuda_status.h"
#include "kernels/cuda/device_readback.h"
#include "kernels/cuda/kernel_call.h"
#include "kernels/cuda/row_selection_cuda.h"
#include "kernels/ops/body_table.h"

namespace pistachio::kernels::cuda {

namespace {

at::Tensor append_digit(const std::optional<at::Tensor>& places, const at::Tensor& values, int64_t least, int64_t size,
                        const std::optional<at::Tensor>& validity) {
  const KernelCall call(values);
  at::Tensor out = at::empty({values.size(0)}, values.options().dtype(at::kInt));
  append_digits(value_kind_of(values), places ? places->const_data_ptr<int32_t>() : nullptr, values.const_data_ptr(), mask_of(validity),
                values.size(0), static_cast<uint32_t>(least) - 1, static_cast<uint32_t>(size), out.mutable_data_ptr<int32_t>(),
                call.stream());
  return out;
}

at::Tensor present_places(const at::Tensor& places, int64_t limit) {
  const KernelCall call(places);
  if (places.numel() == 0) return empty_words(places, 0);
  ScratchMemory scratch;
  bool* is_present = scratch.take<bool>(limit);
  check_cuda(cudaMemsetAsync(is_present, 0, static_cast<size_t>(limit), call.stream()));
  mark_places(places.const_data_ptr<int32_t>(), places.numel(), is_present, call.stream());
  int64_t count = 0;
  read_back(count_flags(is_present, limit, scratch, call.stream()), 1, &count, call.stream());
  at::Tensor present = empty_words(places, count);
  select_rows(is_present, limit, present.mutable_data_ptr<int64_t>(), scratch, call.stream());
  return present;
}

}  // namespace

REGISTER_BODY(Cuda, "append_digit", append_digit);
REGISTER_BODY(Cuda, "present_places", present_places);

}  // namespace pistachio::kernels::cuda
