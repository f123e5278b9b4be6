// CUDA bodies of the operations on device memory, by way of PyTorch's caching allocator, which serves every tensor on the GPU.
#include <c10/cuda/CUDAAllocatorConfig.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <string>

#include "base/error.h"
#include "base/format_bytes.h"
#include "kernels/cuda/cuda_status.h"
#include "kernels/cuda/kernel_call.h"
#include "kernels/ops/body_table.h"

namespace pistachio::kernels::cuda {

namespace {

namespace Allocator = c10::cuda::CUDACachingAllocator;

constexpr size_t kMaxDevices = 64;
// Below this limit a page of the allocator, of which every stream has some that are partly free, would be a large part of it.
constexpr int64_t kMinLimitOfLargePages = int64_t{2} << 30;
// By device; 0: no limit. Process-wide, as the allocator is.
std::array<std::atomic<int64_t>, kMaxDevices> limits{};

constexpr auto kAll = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);

// Called by the allocator when it has found no memory even after returning its cached blocks, without a lock of its own. The exception
// takes the place of PyTorch's, whose text tells a user of SQL nothing.
void refuse(int64_t device, size_t asked, size_t, size_t free) {
  const auto counts = Allocator::getDeviceStats(static_cast<c10::DeviceIndex>(device));
  const int64_t limit = limits[static_cast<size_t>(device)];
  // What is free between blocks in use cannot be returned to the device.
  const int64_t used = counts.allocated_bytes[kAll].current, scattered = counts.reserved_bytes[kAll].current - used;
  std::string text = fmt::format("out of memory on GPU {}: {} more than the {} in use and {} free between them", device,
                                 format_bytes(static_cast<int64_t>(asked)), format_bytes(used), format_bytes(scattered));
  text += limit > 0 ? fmt::format(" do not fit into device_memory_limit, {}", format_bytes(limit)) : " do not fit";
  text += fmt::format("; {} are free on the GPU; raise device_memory_limit or lower device_chunk_bytes",
                      format_bytes(static_cast<int64_t>(free)));
  throw OutOfMemory(std::move(text));
}

at::Tensor device_memory(const at::Tensor& like) {
  const KernelCall call(like);
  size_t free = 0;
  size_t total = 0;
  check_cuda(cudaMemGetInfo(&free, &total));
  const auto counts = Allocator::getDeviceStats(like.device().index());
  at::Tensor made = at::empty({5}, at::kLong);
  int64_t* out = made.mutable_data_ptr<int64_t>();
  out[0] = static_cast<int64_t>(total);
  out[1] = static_cast<int64_t>(free);
  out[2] = counts.allocated_bytes[kAll].current;
  out[3] = counts.reserved_bytes[kAll].current;
  out[4] = counts.allocated_bytes[kAll].peak;
  return made;
}

void limit_device_memory(const at::Tensor& like, int64_t bytes) {
  const KernelCall call(like);
  static std::once_flag once;
  std::call_once(once, [bytes] {
    Allocator::attachOutOfMemoryObserver(refuse);
    // Blocks of fixed segments fragment: near the limit a quarter of it was free and of no use. Pages have 20 MB; less than 11 is refused.
    std::string settings = "expandable_segments:True";
    if (bytes < kMinLimitOfLargePages) settings += ",large_segment_size_mb:12";
    Allocator::setAllocatorSettings(settings);
  });
  size_t free = 0;
  size_t total = 0;
  check_cuda(cudaMemGetInfo(&free, &total));
  const auto device = like.device().index();
  limits.at(static_cast<size_t>(device)) = bytes;
  Allocator::setMemoryFraction(std::min(1.0, static_cast<double>(bytes) / static_cast<double>(total)), device);
}

}  // namespace

REGISTER_BODY(Cuda, "device_memory", device_memory);
REGISTER_BODY(Cuda, "limit_device_memory", limit_device_memory);

}  // namespace pistachio::kernels::cuda
