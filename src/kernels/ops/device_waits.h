// Counts how often the host waits for a GPU, and copies pageable memory, for EXPLAIN ANALYZE (setting count_device_waits). Counted are
// calls of the CUDA runtime, whoever makes them, PyTorch included:
// - synchronizations: of streams, events and the device; cudaMemcpy; cudaFree, which waits for all streams
// - pageable copies: of host memory that is neither pinned nor registered. They are slow, and block the caller.
// Not counted: polling of events, allocation and registration of host memory.
// Counters may be updated by any thread.
#pragma once

#include <c10/core/Device.h>

#include <atomic>
#include <cstdint>

namespace pistachio::kernels {

struct DeviceWaits {
  std::atomic<int64_t> synchronizations = 0;
  std::atomic<int64_t> pageable_copies = 0;
  std::atomic<int64_t> nanoseconds = 0;  // in both kinds of calls, over all threads

  void add(const DeviceWaits& other);
};

// Until the end of the block, this thread's waits are also counted in `waits`, of an operator or a scan. Per thread, like
// DeferredChecks: must not be alive across a co_await. Places nest; the innermost one counts.
class DeviceWaitPlace {
 public:
  explicit DeviceWaitPlace(DeviceWaits& waits);
  ~DeviceWaitPlace();
  DeviceWaitPlace(const DeviceWaitPlace&) = delete;
  DeviceWaitPlace& operator=(const DeviceWaitPlace&) = delete;

  // Null outside of all places.
  static DeviceWaits* current();

 private:
  DeviceWaits* const former_;
};

// Counts all waits of the process while it is alive. Slows every call down by about a microsecond; without a counter none is slower.
class DeviceWaitCounter {
 public:
  explicit DeviceWaitCounter(at::Device device);
  ~DeviceWaitCounter();
  DeviceWaitCounter(const DeviceWaitCounter&) = delete;
  DeviceWaitCounter& operator=(const DeviceWaitCounter&) = delete;

  // False on the CPU, if CUPTI, which observes the calls, cannot be loaded, or if it has a user already: another counter, or a profiler.
  bool is_counting() const { return subscription_ != 0; }
  const DeviceWaits& total() const { return total_; }

 private:
  const at::Device device_;
  DeviceWaits total_;
  int64_t subscription_;
};

}  // namespace pistachio::kernels
