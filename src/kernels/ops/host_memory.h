// Copies between host memory and a device. Those by address are for memory that no tensor owns, such as the page cache behind a mapped
// file. Registered and pinned memory is copied at the full speed of the bus and without the CPU. On the CPU as device, registering does
// nothing and copies are memcpy.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace pistachio::kernels {

// Registers [address, address + bytes), aligned to pages and readable, for copies to `device`. False if the driver refuses: copies still
// work, but slowly. Takes about 40 ms per GB: call it on a blocking thread.
bool register_host_memory(at::Device device, const void* address, int64_t bytes);
// Waits for the device, since copies from the range may be under way.
void unregister_host_memory(at::Device device, const void* address);

// A copy of a contiguous host tensor on the device. Does not wait. Copies of up to kSmallUpload bytes bypass the copy engine, where they
// would queue behind large copies of other streams: decoding a chunk would then wait until the next chunks have arrived.
at::Tensor upload(const at::Tensor& host, at::Device device);
constexpr int64_t kSmallUpload = 1 << 20;

// A copy of a contiguous tensor on the host, which may use it at once. Goes through pinned memory: a copy to pageable memory is slower.
at::Tensor download(const at::Tensor& tensor);

// Copies contiguous tensors of one device, or of the host, to the given offsets of `target`, uint8 in host memory, which may be used at
// once. Waits once for all of them if the target is pinned; else they go through pinned memory piece by piece.
void download_ranges(const at::Tensor& target, const std::vector<at::Tensor>& sources, const std::vector<int64_t>& offsets);

// Enqueues copies on the current stream and does not wait. `copies` is int64 CPU [n, 3], rows {address, bytes, offset in target}; `target` is
// uint8 [..]. A copy must not cross the boundary of two registered ranges, and the memory must stay until the copies are done.
void upload_ranges(const at::Tensor& target, const at::Tensor& copies);

}  // namespace pistachio::kernels
