// Shared by the thin .cpp files: the device and stream of a call, and plain views of tensors for the .cu files.
#pragma once

#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <optional>

#include "base/check.h"
#include "kernels/cuda/row_ranges.h"
#include "kernels/cuda/value_kind.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cuda {

// Makes the tensor's device current for a scope; `stream` is torch's current stream of that device.
class KernelCall {
 public:
  explicit KernelCall(const at::Tensor& tensor) : guard_(tensor.device()), stream_(c10::cuda::getCurrentCUDAStream()) {}
  cudaStream_t stream() const { return stream_; }

 private:
  c10::cuda::CUDAGuard guard_;
  cudaStream_t stream_;
};

inline ValueKind value_kind_of(const at::Tensor& values) {
  if (values.dim() == 2) return ValueKind::Wide;
  switch (values.scalar_type()) {
    case at::kBool:
    case at::kByte: return ValueKind::UInt8;
    case at::kChar: return ValueKind::Int8;
    case at::kShort: return ValueKind::Int16;
    case at::kInt: return ValueKind::Int32;
    case at::kLong: return ValueKind::Int64;
    case at::kFloat: return ValueKind::Float;
    default: ENSURE(values.scalar_type() == at::kDouble); return ValueKind::Double;
  }
}

inline const bool* mask_of(const std::optional<at::Tensor>& validity) {
  return validity ? validity->const_data_ptr<bool>() : nullptr;
}

inline RowRanges row_ranges(const at::Tensor& begins, const at::Tensor& ends) {
  return {begins.const_data_ptr<int64_t>(), ends.const_data_ptr<int64_t>(), begins.size(0), begins.size(1)};
}

inline at::Tensor empty_like_rows(const at::Tensor& values, int64_t rows) {
  return values.dim() == 2 ? at::empty({rows, 2}, values.options()) : at::empty({rows}, values.options());
}

inline at::Tensor empty_words(const at::Tensor& like, int64_t rows) {
  return at::empty({rows}, like.options().dtype(at::kLong));
}

inline at::Tensor empty_flags(const at::Tensor& like, int64_t rows) {
  return at::empty({rows}, like.options().dtype(at::kBool));
}

}  // namespace pistachio::kernels::cuda
