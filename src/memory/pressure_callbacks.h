// Callbacks that release memory under pressure: caches whose content can be rebuilt (metadata cache, free lists of the pooled
// allocator). Owned by the MemoryGovernor, which calls them on the reserving thread, outside its lock, when a reservation would be
// refused. Thread-safe. A callback never runs on two threads at the same time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace pistachio {

// Receives the number of missing bytes. It may release reservations; it must not block or throw. Callers that reserve memory must not hold
// a lock that a callback takes.
using PressureCallback = std::function<void(int64_t wanted_bytes)>;

struct PressureEntry;

// Keeps a callback registered. The destructor waits for a running call to end.
class [[nodiscard]] PressureRegistration {
 public:
  PressureRegistration() = default;
  PressureRegistration(PressureRegistration&& other) noexcept = default;
  PressureRegistration& operator=(PressureRegistration&& other) noexcept;
  ~PressureRegistration() { remove(); }

 private:
  friend class PressureCallbacks;
  explicit PressureRegistration(std::shared_ptr<PressureEntry> entry) : entry_(std::move(entry)) {}
  void remove();

  std::shared_ptr<PressureEntry> entry_;
};

class PressureCallbacks {
 public:
  PressureRegistration add(PressureCallback callback);
  // Calls them in order of registration until `is_enough` returns true; returns its last result.
  bool call_until(int64_t wanted_bytes, const std::function<bool()>& is_enough);

 private:
  std::mutex mutex_;
  // Guarded by mutex_; removed registrations leave dead entries, which calls skip and the next add removes.
  std::vector<std::shared_ptr<PressureEntry>> entries_;
};

}  // namespace pistachio
