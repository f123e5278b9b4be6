// Emulates a slower storage device: delays reads so that no more than a given number of bytes per second pass. Reads are admitted in small
// slices, the most urgent first, as in the read pool's queue. Thread-safe.
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

class ReadThrottle {
 public:
  using TimePoint = BandwidthLimit::TimePoint;

  // 0: no limit.
  explicit ReadThrottle(int64_t bytes_per_second) : limit_(bytes_per_second) {}

  // Returns when the slower device would have delivered `bytes` requested at `asked`. Throws Cancelled.
  Task<void> pass(int64_t bytes, int64_t need, TimePoint asked);

 private:
  using Place = std::pair<int64_t, uint64_t>;  // need, then order of arrival
  // Closed when it is the waiter's turn. Shared, since the waiter may be gone before close() returns.
  using Turn = std::shared_ptr<Channel<int>>;

  // A read that waits or has its turn. Its destructor passes the turn on, also after cancellation.
  class Ticket {
   public:
    Ticket(ReadThrottle& device, Place place);
    ~Ticket();
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;
    Task<void> wait();

   private:
    ReadThrottle& device_;
    const Place place_;
    Turn turn_;  // null: it did not have to wait
  };

  // Bytes per turn: few enough that more urgent reads can cut in.
  int64_t most_at_once() const;
  // Whether a more urgent read is waiting.
  bool is_sooner_needed(Place place);

  BandwidthLimit limit_;
  std::atomic<uint64_t> reads_ = 0;
  std::mutex mutex_;
  // Guarded by mutex_.
  bool is_taken_ = false;
  std::map<Place, Turn> waiting_;
};

}  // namespace pistachio
