// CUDA bodies of range_extreme, range_bits, range_sum_float and range_moments, on torch's current stream. No synchronization.
#include "kernels/cuda/range_fold_cuda.h"

#include "kernels/cuda/kernel_call.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/stop_flag.h"

namespace pistachio::kernels::cuda {

namespace {

at::Tensor range_extreme(const at::Tensor& words, const std::optional<at::Tensor>& validity, const at::Tensor& begins,
                         const at::Tensor& ends, bool take_max, const std::optional<at::Tensor>& stop) {
  StopCheck{stop}();
  const KernelCall call(words);
  at::Tensor rows = empty_words(words, begins.size(1));
  ScratchMemory scratch;
  fold_extremes(words.const_data_ptr<int64_t>(), mask_of(validity), words.numel(), row_ranges(begins, ends), take_max,
                rows.mutable_data_ptr<int64_t>(), scratch, call.stream());
  return rows;
}

at::Tensor range_bits(const at::Tensor& values, const std::optional<at::Tensor>& validity, const at::Tensor& begins, const at::Tensor& ends,
                      int64_t op, const std::optional<at::Tensor>& stop) {
  StopCheck{stop}();
  const KernelCall call(values);
  at::Tensor bits = empty_words(values, begins.size(1));
  ScratchMemory scratch;
  fold_bits(values.const_data_ptr<int64_t>(), mask_of(validity), values.numel(), row_ranges(begins, ends), static_cast<BitFoldOp>(op),
            bits.mutable_data_ptr<int64_t>(), scratch, call.stream());
  return bits;
}

at::Tensor range_sum_float(const at::Tensor& values, const std::optional<at::Tensor>& validity, const at::Tensor& begins,
                           const at::Tensor& ends, const std::optional<at::Tensor>& stop) {
  StopCheck{stop}();
  const KernelCall call(values);
  at::Tensor sums = at::empty({begins.size(1)}, values.options().dtype(at::kDouble));
  ScratchMemory scratch;
  fold_float_sums(value_kind_of(values), values.const_data_ptr(), mask_of(validity), values.numel(), row_ranges(begins, ends),
                  sums.mutable_data_ptr<double>(), scratch, call.stream());
  return sums;
}

at::Tensor range_moments(const at::Tensor& values, const std::optional<at::Tensor>& validity, const at::Tensor& begins,
                         const at::Tensor& ends, const std::optional<at::Tensor>& stop) {
  StopCheck{stop}();
  const KernelCall call(values);
  at::Tensor moments = at::empty({begins.size(1), 3}, values.options().dtype(at::kDouble));
  ScratchMemory scratch;
  fold_moments(value_kind_of(values), values.const_data_ptr(), mask_of(validity), values.numel(), row_ranges(begins, ends),
               moments.mutable_data_ptr<double>(), scratch, call.stream());
  return moments;
}

}  // namespace

REGISTER_BODY(Cuda, "range_extreme", range_extreme);
REGISTER_BODY(Cuda, "range_bits", range_bits);
REGISTER_BODY(Cuda, "range_sum_float", range_sum_float);
REGISTER_BODY(Cuda, "range_moments", range_moments);

}  // namespace pistachio::kernels::cuda
