// The list of those who can release memory when it gets scarce: caches whose content can be rebuilt (metadata cache, free lists of the
// pooled allocator). Owned by the MemoryGovernor, which calls them on the thread that reserves, outside its lock, when a reservation would
// be refused. Thread-safe. Two threads under pressure do not run the same callback at the same time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace pistachio {

// Gets the bytes that are missing. It may release reservations; it must not block or throw. Whoever reserves memory must not hold a lock
// that a callback takes.
using PressureCallback = std::function<void(int64_t wanted_bytes)>;

struct PressureEntry;

// Keeps a callback registered. The destructor waits until a running call ended.
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
  // Calls them in the order of registration until `is_enough` says so; the result is its last answer.
  bool call_until(int64_t wanted_bytes, const std::function<bool()>& is_enough);

 private:
  std::mutex mutex_;
  // Guarded by mutex_; removed registrations leave dead entries, which calls pass over and the next add drops.
  std::vector<std::shared_ptr<PressureEntry>> entries_;
};

}  // namespace pistachio
