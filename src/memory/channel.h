// Channel<T>: a queue between tasks, bounded by bytes: senders wait while it is full, receivers while it is empty. Many senders, many
// receivers; items and waiting tasks are served first in, first out. It ends in one of three ways: close() by the sending side (receivers
// drain it, then get nothing), close_receiver() by the receiving side (senders get ReceiverClosed), fail() by either (both get the error).
// Owned by whoever connects the two sides; it must outlive the tasks that use it. Thread-safe, one short lock. Waiting is a cancellation
// point. Memory: the queued items; their bytes are what the sender says, reservations travel inside the items.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/task.h"
#include "memory/channel_waits.h"

namespace pistachio {

// The receiver wants no more (LIMIT reached, join side empty). A sender that treats this as its normal end catches it.
class ReceiverClosed : public Cancelled {
 public:
  ReceiverClosed() : Cancelled("the receiver of the channel is closed") {}
};

struct ChannelStatistics {
  int64_t items = 0;
  int64_t bytes = 0;
  // The most bytes that were queued at one time.
  int64_t peak_bytes = 0;
  std::chrono::nanoseconds senders_stalled{0};
  std::chrono::nanoseconds receivers_stalled{0};
};

template <typename T>
class Channel {
 public:
  explicit Channel(int64_t limit_bytes);
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // Waits while the channel is full. An item larger than the limit passes when the channel is empty. Throws ReceiverClosed or the error.
  Task<void> send(T value, int64_t bytes);
  // Waits while the channel is empty. Nothing after the end. Throws the error.
  Task<std::optional<T>> receive();

  // No more sends. What is queued, and sends that wait already, are still delivered.
  void close();
  // Drops what is queued. The first error stays; none after close_receiver().
  void fail(std::exception_ptr error);
  // No more receives. Drops what is queued.
  void close_receiver();

  ChannelStatistics statistics() const;
};

}  // namespace pistachio
