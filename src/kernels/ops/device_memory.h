// The memory of a GPU: how much there is, how much of it tensors take, and a limit for them. On the CPU everything is 0 and nothing is
// limited; memory/pooled_allocator.h does that there. Thread-safe.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>

namespace pistachio::kernels {

struct DeviceMemory {
  int64_t total = 0;
  int64_t free = 0;       // neither used nor cached by any process
  int64_t tensors = 0;    // live tensors of this process
  int64_t allocated = 0;  // taken from the device by this process's tensor allocator: live tensors and cached blocks
  int64_t peak = 0;       // largest `tensors` so far
};

DeviceMemory device_memory(at::Device device);

// From now on a tensor that would take the process beyond `bytes` makes its allocation throw OutOfMemory, which names the setting
// device_memory_limit. The allocator returns cached blocks to the device before that happens.
void limit_device_memory(at::Device device, int64_t bytes);

}  // namespace pistachio::kernels
