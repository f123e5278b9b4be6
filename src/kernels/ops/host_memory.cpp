// Schemas and entry points of the host memory operations.
#include "kernels/ops/host_memory.h"

#include <torch/library.h>

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
  static const auto operation = find_operation<bool(const at::Tensor&, int64_t, int64_t)>("pistachio::register_host_memory");
  const at::Tensor like = tensor_on(device);
  return operation.redispatch(dispatch_keys(like), like, as_number(address), bytes);
}

void unregister_host_memory(at::Device device, const void* address) {
  static const auto operation = find_operation<void(const at::Tensor&, int64_t)>("pistachio::unregister_host_memory");
  const at::Tensor like = tensor_on(device);
  operation.redispatch(dispatch_keys(like), like, as_number(address));
}

at::Tensor upload(const at::Tensor& host, at::Device device) {
  ENSURE(host.is_cpu() && host.is_contiguous());
  static const auto operation = find_operation<at::Tensor(const at::Tensor&, const at::Tensor&)>("pistachio::upload");
  const at::Tensor like = tensor_on(device);
  return operation.redispatch(dispatch_keys(like), like, host);
}

at::Tensor download(const at::Tensor& tensor) {
  ENSURE(tensor.is_contiguous());
  static const auto operation = find_operation<at::Tensor(const at::Tensor&)>("pistachio::download");
  return operation.redispatch(dispatch_keys(tensor), tensor);
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
  static const auto operation = find_operation<void(const at::Tensor&, at::TensorList, at::IntArrayRef)>("pistachio::download_ranges");
  operation.redispatch(dispatch_keys(sources[0]), target, sources, offsets);
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
  static const auto operation = find_operation<void(const at::Tensor&, const at::Tensor&)>("pistachio::upload_ranges");
  operation.redispatch(dispatch_keys(target), target, copies);
}

TORCH_LIBRARY_FRAGMENT(pistachio, library) {
  library.def("register_host_memory(Tensor like, int address, int bytes) -> bool");
  library.def("unregister_host_memory(Tensor like, int address) -> ()");
  library.def("upload(Tensor like, Tensor host) -> Tensor");
  library.def("download(Tensor tensor) -> Tensor");
  library.def("download_ranges(Tensor target, Tensor[] sources, int[] offsets) -> ()");
  library.def("upload_ranges(Tensor target, Tensor copies) -> ()");
}

}  // namespace pistachio::kernels
