// CUDA body of range_search, on torch's current stream. No synchronization.
#include "kernels/cuda/range_search_cuda.h"

#include "kernels/cuda/kernel_call.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/stop_flag.h"

namespace pistachio::kernels::cuda {

namespace {

at::Tensor range_search(const at::Tensor& keys, const at::Tensor& bounds, const at::Tensor& begins, const at::Tensor& ends,
                        bool after_equal, const std::optional<at::Tensor>& stop) {
  StopCheck{stop}();
  const KernelCall call(keys);
  at::Tensor places = empty_words(bounds, bounds.numel());
  search_ranges(keys.const_data_ptr<int64_t>(), bounds.const_data_ptr<int64_t>(), begins.const_data_ptr<int64_t>(),
                ends.const_data_ptr<int64_t>(), after_equal, bounds.numel(), places.mutable_data_ptr<int64_t>(), call.stream());
  return places;
}

}  // namespace

REGISTER_BODY(Cuda, "range_search", range_search);

}  // namespace pistachio::kernels::cuda
