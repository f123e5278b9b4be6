// The implementation of Channel<T> (channel.h), separate to keep its interface short. Invariant: an empty channel has no waiting
// senders (it always has room), and receivers wait only while it is empty. User values are destroyed outside the lock.
#pragma once

#include "memory/channel.h"

namespace pistachio {

template <typename T>
class Channel<T>::SendWait final : public QueuedWait {
 public:
  SendWait(Channel& channel, T value, int64_t bytes) : channel_(channel), value_(std::move(value)), bytes_(bytes) {}

  bool await_ready() {
    WakeList woken;
    std::lock_guard lock(channel_.mutex_);
    return channel_.try_send(*this, woken);
  }
  void await_resume() {
    this->finish_wait();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  friend class Channel;

  bool join_queue() override {
    WakeList woken;
    std::lock_guard lock(channel_.mutex_);
    if (this->was_cancelled()) return false;
    if (channel_.try_send(*this, woken)) {
      this->settle();
      return false;
    }
    waiting_since_ = Clock::now();
    channel_.senders_.push(*this);
    return true;
  }
  void leave_queue() override {
    WakeList woken;
    std::lock_guard lock(channel_.mutex_);
    if (!channel_.senders_.cancel(*this, woken)) return;
    channel_.statistics_.senders_stalled += Clock::now() - waiting_since_;
    channel_.admit_senders(woken);  // a smaller item behind this one may fit
  }

  Channel& channel_;
  T value_;
  const int64_t bytes_;
  Clock::time_point waiting_since_;
  std::exception_ptr error_;
};

template <typename T>
class Channel<T>::ReceiveWait final : public QueuedWait {
 public:
  explicit ReceiveWait(Channel& channel) : channel_(channel) {}

  bool await_ready() {
    WakeList woken;
    std::lock_guard lock(channel_.mutex_);
    return channel_.try_receive(*this, woken);
  }
  std::optional<T> await_resume() {
    this->finish_wait();
    if (error_) std::rethrow_exception(error_);
    return std::move(value_);
  }

 private:
  friend class Channel;

  bool join_queue() override {
    WakeList woken;
    std::lock_guard lock(channel_.mutex_);
    if (this->was_cancelled()) return false;
    if (channel_.try_receive(*this, woken)) {
      this->settle();
      return false;
    }
    waiting_since_ = Clock::now();
    channel_.receivers_.push(*this);
    return true;
  }
  void leave_queue() override {
    WakeList woken;
    std::lock_guard lock(channel_.mutex_);
    if (channel_.receivers_.cancel(*this, woken)) channel_.statistics_.receivers_stalled += Clock::now() - waiting_since_;
  }

  Channel& channel_;
  std::optional<T> value_;
  Clock::time_point waiting_since_;
  std::exception_ptr error_;
};

template <typename T>
bool Channel<T>::try_send(SendWait& wait, WakeList& woken) {
  if (error_) {
    wait.error_ = error_;
    return true;
  }
  if (receiver_closed_) {
    wait.error_ = std::make_exception_ptr(ReceiverClosed());
    return true;
  }
  ENSURE(!closed_, "send on a channel that its sending side has closed");
  if (!senders_.empty() || !has_room(wait.bytes_)) return false;
  deliver(std::move(wait.value_), wait.bytes_, woken);
  return true;
}

template <typename T>
void Channel<T>::push(T value, int64_t bytes) {
  WakeList woken;
  std::unique_lock lock(mutex_);
  if (error_ || receiver_closed_) {
    lock.unlock();  // the value is destroyed outside the lock
    return;
  }
  ENSURE(!closed_, "push on a channel that its sending side has closed");
  deliver(std::move(value), bytes, woken);
}

template <typename T>
bool Channel<T>::try_receive(ReceiveWait& wait, WakeList& woken) {
  if (error_) {
    wait.error_ = error_;
    return true;
  }
  if (items_.empty()) return closed_ || receiver_closed_;
  wait.value_.emplace(std::move(items_.front().value));
  queued_bytes_ -= items_.front().bytes;
  items_.pop_front();
  admit_senders(woken);
  return true;
}

template <typename T>
std::optional<T> Channel<T>::take() {
  WakeList woken;
  std::lock_guard lock(mutex_);
  if (error_) std::rethrow_exception(error_);
  if (items_.empty()) return std::nullopt;
  std::optional<T> value = std::move(items_.front().value);
  queued_bytes_ -= items_.front().bytes;
  items_.pop_front();
  admit_senders(woken);
  return value;
}

template <typename T>
void Channel<T>::deliver(T value, int64_t bytes, WakeList& woken) {
  ++statistics_.items;
  statistics_.bytes += bytes;
  if (ReceiveWait* receiver = receivers_.first()) {
    receiver->value_.emplace(std::move(value));
    wake_receiver(*receiver, woken);
    return;
  }
  items_.push_back(Item{std::move(value), bytes});
  queued_bytes_ += bytes;
  statistics_.peak_bytes = std::max(statistics_.peak_bytes, queued_bytes_);
}

template <typename T>
void Channel<T>::admit_senders(WakeList& woken) {
  while (SendWait* sender = senders_.first()) {
    if (!has_room(sender->bytes_)) return;
    deliver(std::move(sender->value_), sender->bytes_, woken);
    wake_sender(*sender, woken);
  }
}

template <typename T>
void Channel<T>::wake_sender(SendWait& wait, WakeList& woken) {
  statistics_.senders_stalled += Clock::now() - wait.waiting_since_;
  senders_.wake(wait, woken);
}

template <typename T>
void Channel<T>::wake_receiver(ReceiveWait& wait, WakeList& woken) {
  statistics_.receivers_stalled += Clock::now() - wait.waiting_since_;
  receivers_.wake(wait, woken);
}

template <typename T>
auto Channel<T>::drop_items() -> std::deque<Item> {
  queued_bytes_ = 0;
  return std::exchange(items_, {});
}

template <typename T>
void Channel<T>::close() {
  WakeList woken;
  std::lock_guard lock(mutex_);
  closed_ = true;
  while (ReceiveWait* receiver = receivers_.first()) wake_receiver(*receiver, woken);
}

template <typename T>
void Channel<T>::fail(std::exception_ptr error) {
  std::deque<Item> dropped;
  WakeList woken;
  std::lock_guard lock(mutex_);
  if (error_ || receiver_closed_) return;
  error_ = std::move(error);
  dropped = drop_items();
  while (ReceiveWait* receiver = receivers_.first()) {
    receiver->error_ = error_;
    wake_receiver(*receiver, woken);
  }
  while (SendWait* sender = senders_.first()) {
    sender->error_ = error_;
    wake_sender(*sender, woken);
  }
}

template <typename T>
void Channel<T>::close_receiver() {
  std::deque<Item> dropped;
  WakeList woken;
  std::lock_guard lock(mutex_);
  receiver_closed_ = true;
  dropped = drop_items();
  while (ReceiveWait* receiver = receivers_.first()) wake_receiver(*receiver, woken);
  while (SendWait* sender = senders_.first()) {
    sender->error_ = std::make_exception_ptr(ReceiverClosed());
    wake_sender(*sender, woken);
  }
}

}  // namespace pistachio
