// CUDA bodies of summarize and summarize_dictionary, on torch's current stream. They synchronize once, for the result; for two-word values
// once or twice more, to find out whether the sum overflows 128 bits.
#include "kernels/cuda/summarize_cuda.h"

#include <limits>

#include "base/error.h"
#include "kernels/cuda/cuda_status.h"
#include "kernels/cuda/kernel_call.h"
#include "kernels/cuda/wide_sum_overflow.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cuda {

namespace {

at::Tensor pack_wide(SummarizedColumn column, ScratchMemory& scratch, cudaStream_t stream) {
  if (column.codes != nullptr && column.rows > 0) {
    auto* expanded = scratch.take<WideWords>(column.rows);
    expand_wide(column, expanded, stream);
    column.values = expanded;
    column.codes = nullptr;
  }
  auto* zero = scratch.take<WideWords>(1);
  check_cuda(cudaMemsetAsync(zero, 0, sizeof(*zero), stream));
  if (wide_sums_overflow(zero, 1, nullptr, static_cast<const WideWords*>(column.values), column.valid, column.rows, stream)) {
    throw UserError("the sum of decimals does not fit 38 digits");
  }
  const WideSummary summary = summarize_wide(column, scratch, stream);
  if (summary.count == 0) return at::zeros({7}, at::kLong);
  const auto& [count, min, max, sum] = summary;
  return at::tensor({count, min.low, min.high, max.low, max.high, sum.low, sum.high}, at::kLong);
}

at::Tensor pack_integers(const SummarizedColumn& column, ScratchMemory& scratch, cudaStream_t stream) {
  const IntegerSummary summary = summarize_integers(column, scratch, stream);
  if (summary.count == 0) return at::zeros({5}, at::kLong);
  return at::tensor({summary.count, summary.min, summary.max, summary.sum.low, summary.sum.high}, at::kLong);
}

at::Tensor pack_floats(const SummarizedColumn& column, ScratchMemory& scratch, cudaStream_t stream) {
  const FloatSummary summary = summarize_floats(column, scratch, stream);
  if (summary.count == 0) return at::zeros({4}, at::kDouble);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double min = summary.nans < summary.count ? summary.min : nan, max = summary.nans > 0 ? nan : summary.max;
  return at::tensor({static_cast<double>(summary.count), min, max, summary.sum}, at::kDouble);
}

at::Tensor pack(const SummarizedColumn& column, cudaStream_t stream) {
  ScratchMemory scratch;
  switch (column.kind) {
    case ValueKind::Wide: return pack_wide(column, scratch, stream);
    case ValueKind::Float:
    case ValueKind::Double: return pack_floats(column, scratch, stream);
    default: return pack_integers(column, scratch, stream);
  }
}

at::Tensor summarize(const at::Tensor& values, const std::optional<at::Tensor>& validity) {
  const KernelCall call(values);
  return pack({value_kind_of(values), values.const_data_ptr(), nullptr, mask_of(validity), values.size(0)}, call.stream());
}

at::Tensor summarize_dictionary(const at::Tensor& dictionary, const at::Tensor& codes, const std::optional<at::Tensor>& validity) {
  const KernelCall call(dictionary);
  return pack({value_kind_of(dictionary), dictionary.const_data_ptr(), codes.const_data_ptr<int32_t>(), mask_of(validity), codes.size(0)},
              call.stream());
}

}  // namespace

REGISTER_BODY(Cuda, "summarize", summarize);
REGISTER_BODY(Cuda, "summarize_dictionary", summarize_dictionary);

}  // namespace pistachio::kernels::cuda
