// Channel<T>: a queue between tasks, bounded by bytes: senders wait while it is full, receivers while it is empty. Any number of senders
// and receivers; items and waiting tasks are served first in, first out. It ends in one of three ways: close() by the sending side
// (receivers drain it, then get nullopt), close_receiver() by the receiving side (senders get ReceiverClosed), fail() by either (both get
// the error).
// Must outlive the tasks that use it. Thread-safe, one short lock. Waiting is a cancellation point. Memory: the queued items; the sender
// states their bytes, and reservations travel inside the items.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/task.h"
#include "memory/queued_wait.h"

namespace pistachio {

// The receiver wants no more (LIMIT reached, other join side empty). A sender for which this is a normal end catches it.
class ReceiverClosed : public Cancelled {
 public:
  ReceiverClosed() : Cancelled("the receiver of the channel is closed") {}
};

struct ChannelStatistics {
  int64_t items = 0;
  int64_t bytes = 0;
  // Most bytes queued at the same time.
  int64_t peak_bytes = 0;
  std::chrono::nanoseconds senders_stalled{0};
  std::chrono::nanoseconds receivers_stalled{0};
};

template <typename T>
class Channel {
 public:
  explicit Channel(int64_t limit_bytes) : limit_bytes_(limit_bytes) { ENSURE_GE(limit_bytes, 0); }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // Waits while the channel is full. An item larger than the limit passes once the channel is empty. Throws ReceiverClosed or the error.
  Task<void> send(T value, int64_t bytes) {
    ENSURE_GE(bytes, 0);
    SendWait wait(*this, std::move(value), bytes);
    co_await wait;
  }

  // For senders that are bounded otherwise (by credit from the receiver) and cannot wait: accepts the item even if the channel is full.
  // Drops it if the receiver is closed or the channel has failed. Any thread.
  void push(T value, int64_t bytes);

  // Waits while the channel is empty. Nullopt after the end. Throws the error.
  Task<std::optional<T>> receive() {
    ReceiveWait wait(*this);
    std::optional<T> value = co_await wait;
    co_return value;
  }

  // The first queued item, without waiting; nullopt if the channel is empty. Throws the error. Any thread.
  std::optional<T> take();

  // No more sends. Queued items, and items of senders already waiting, are still delivered.
  void close();
  // Drops queued items. The first error stays; no effect after close_receiver().
  void fail(std::exception_ptr error);
  // No more receives. Drops queued items.
  void close_receiver();

  ChannelStatistics statistics() const {
    std::lock_guard lock(mutex_);
    return statistics_;
  }

 private:
  using Clock = std::chrono::steady_clock;

  struct Item {
    T value;
    int64_t bytes;
  };

  class SendWait;
  class ReceiveWait;

  // All under mutex_.
  bool has_room(int64_t bytes) const { return items_.empty() || bytes <= limit_bytes_ - queued_bytes_; }
  bool try_send(SendWait& wait, WakeList& woken);
  bool try_receive(ReceiveWait& wait, WakeList& woken);
  void deliver(T value, int64_t bytes, WakeList& woken);
  void admit_senders(WakeList& woken);
  void wake_sender(SendWait& wait, WakeList& woken);
  void wake_receiver(ReceiveWait& wait, WakeList& woken);
  std::deque<Item> drop_items();

  const int64_t limit_bytes_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::deque<Item> items_;
  int64_t queued_bytes_ = 0;
  WaitQueue<SendWait> senders_;
  WaitQueue<ReceiveWait> receivers_;
  bool closed_ = false;
  bool receiver_closed_ = false;
  std::exception_ptr error_;
  ChannelStatistics statistics_;
};

}  // namespace pistachio

#include "memory/channel_implementation.h"
