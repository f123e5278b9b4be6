// Entry points of the host memory operations.
#include "kernels/ops/host_memory.h"

#include "base/check.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels {

namespace {

int64_t as_number(const void* address) {
  return static_cast<int64_t>(reinterpret_cast<intptr_t>(address));
}

}  // namespace

bool register_host_memory(at::Device device, const void* address, int64_t bytes) {
  static const Operation<bool(const at::Tensor&, int64_t, int64_t)> operation("register_host_memory");
  const at::Tensor like = tensor_on(device);
  return operation.on(like)(like, as_number(address), bytes);
}

void unregister_host_memory(at::Device device, const void* address) {
  static const Operation<void(const at::Tensor&, int64_t)> operation("unregister_host_memory");
  const at::Tensor like = tensor_on(device);
  operation.on(like)(like, as_number(address));
}

at::Tensor upload(const at::Tensor& host, at::Device device) {
  ENSURE(host.is_cpu() && host.is_contiguous());
  static const Operation<at::Tensor(const at::Tensor&, const at::Tensor&)> operation("upload");
  const at::Tensor like = tensor_on(device);
  return operation.on(like)(like, host);
}

at::Tensor download(const at::Tensor& tensor) {
  ENSURE(tensor.is_contiguous());
  static const Operation<at::Tensor(const at::Tensor&)> operation("download");
  return operation.on(tensor)(tensor);
}

void download_ranges(const at::Tensor& target, const std::vector<at::Tensor>& sources, const std::vector<int64_t>& offsets) {
  check_bytes(target);
  ENSURE(target.is_contiguous() && target.is_cpu());
  ENSURE_EQ(sources.size(), offsets.size());
  if (sources.empty()) return;
  for (size_t i = 0; i < sources.size(); ++i) {
    ENSURE(sources[i].is_contiguous() && sources[i].device() == sources[0].device());
    ENSURE_GE(offsets[i], 0);
    ENSURE_LE(static_cast<int64_t>(sources[i].nbytes()), target.numel() - offsets[i]);
  }
  static const Operation<void(const at::Tensor&, at::TensorList, at::IntArrayRef)> operation("download_ranges");
  operation.on(sources[0])(target, sources, offsets);
}

void upload_ranges(const at::Tensor& target, const at::Tensor& copies) {
  if (is_empty_table(copies)) return;
  check_bytes(target);
  ENSURE(target.is_contiguous() && copies.is_cpu() && copies.scalar_type() == at::kLong && copies.dim() == 2 && copies.size(1) == 3);
  auto rows = copies.accessor<int64_t, 2>();
  for (int64_t copy = 0; copy < rows.size(0); ++copy) {
    ENSURE(rows[copy][0] != 0 && rows[copy][1] >= 0 && rows[copy][2] >= 0);
    ENSURE_LE(rows[copy][1], target.numel() - rows[copy][2]);
  }
  static const Operation<void(const at::Tensor&, const at::Tensor&)> operation("upload_ranges");
  operation.on(target)(target, copies);
}

}  // namespace pistachio::kernels
