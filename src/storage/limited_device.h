// A storage device that passes no more than so many bytes a second, for evaluation: the real one is faster, reads wait here for as long as the
// slower one would take. One passes at a time, a little of it; of those that wait, what is needed first goes first, as in the queue of the threads
// that read. Thread-safe.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "base/bandwidth_limit.h"
#include "base/task.h"
#include "memory/channel.h"

namespace pistachio {

class LimitedDevice {
 public:
  using TimePoint = BandwidthLimit::TimePoint;

  // 0: no limit.
  explicit LimitedDevice(int64_t bytes_per_second) : limit_(bytes_per_second) {}

  // Returns when bytes that the device was `asked` for would be there. Throws Cancelled.
  Task<void> pass(int64_t bytes, int64_t need, TimePoint asked);

 private:
  using Place = std::pair<int64_t, uint64_t>;  // need, then order of coming
  // Closed when it is the turn of the one that waits. Shared: that one may be gone before close() has returned.
  using Turn = std::shared_ptr<Channel<int>>;

  // One that waits or has its turn. Goes on to the next at the end of its life, cancelled or not.
  class Ticket {
   public:
    Ticket(LimitedDevice& device, Place place);
    ~Ticket();
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;
    Task<void> wait();

   private:
    LimitedDevice& device_;
    const Place place_;
    Turn turn_;  // null: it did not have to wait
  };

  // What passes in one turn: little enough for what is needed sooner to come in between.
  int64_t most_at_once() const;
  // Whether one waits that goes before this place.
  bool is_sooner_needed(Place place);

  BandwidthLimit limit_;
  std::atomic<uint64_t> reads_ = 0;
  std::mutex mutex_;
  // Guarded by mutex_.
  bool is_taken_ = false;
  std::map<Place, Turn> waiting_;
};

}  // namespace pistachio
