// Reference bodies of the host memory operations: nothing is registered, and ranges are copied as ordinary tensors.

#include <cstring>

#include "kernels/ops/tensor_functions.h"

#include "kernels/ops/body_table.h"

namespace pistachio::kernels::composite {

namespace {

bool register_host_memory(const at::Tensor&, int64_t, int64_t) {
  return true;
}

void unregister_host_memory(const at::Tensor&, int64_t) {}

at::Tensor upload(const at::Tensor& like, const at::Tensor& host) {
  return host.to(like.device(), /*non_blocking=*/false, /*copy=*/true);
}

at::Tensor download(const at::Tensor& tensor) {
  return tensor.to(at::kCPU, /*non_blocking=*/false, /*copy=*/true);
}

void download_ranges(const at::Tensor& target, at::TensorList sources, at::IntArrayRef offsets) {
  auto* out = target.mutable_data_ptr<uint8_t>();
  for (size_t i = 0; i < sources.size(); ++i) {
    if (sources[i].numel() > 0) std::memcpy(out + offsets[i], sources[i].cpu().const_data_ptr(), sources[i].nbytes());
  }
}

void upload_ranges(const at::Tensor& target, const at::Tensor& copies) {
  auto rows = copies.accessor<int64_t, 2>();
  for (int64_t copy = 0; copy < rows.size(0); ++copy) {
    const int64_t bytes = rows[copy][1];
    const at::Tensor source = at::from_blob(reinterpret_cast<void*>(static_cast<intptr_t>(rows[copy][0])), {bytes}, at::kByte);
    target.narrow(0, rows[copy][2], bytes).copy_(source);
  }
}

}  // namespace

REGISTER_BODY(Composite, "register_host_memory", register_host_memory);
REGISTER_BODY(Composite, "unregister_host_memory", unregister_host_memory);
REGISTER_BODY(Composite, "upload", upload);
REGISTER_BODY(Composite, "download", download);
REGISTER_BODY(Composite, "download_ranges", download_ranges);
REGISTER_BODY(Composite, "upload_ranges", upload_ranges);

}  // namespace pistachio::kernels::composite
