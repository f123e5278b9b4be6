#include "network/progress_inbox.h"

#include <utility>

#include "base/check.h"

namespace pistachio {

bool ProgressInbox::push(std::shared_ptr<OutgoingMessage>& message) {
  std::lock_guard lock(mutex_);
  if (has_ended_) return false;
  messages_.push_back(std::move(message));
  // Waking costs a system call: only a sleeper needs it.
  if (std::exchange(is_asleep_, false)) signal();
  return true;
}

void ProgressInbox::set_receiver(MessageReceiver& receiver) {
  std::lock_guard lock(mutex_);
  ENSURE(receiver_ == nullptr, "start() was called twice");
  receiver_ = &receiver;
  if (!has_ended_) signal();
}

void ProgressInbox::request_stop() {
  std::lock_guard lock(mutex_);
  is_stopping_ = true;
  if (!has_ended_) signal();
}

ProgressInbox::Taken ProgressInbox::take() {
  std::lock_guard lock(mutex_);
  return {std::exchange(messages_, {}), receiver_};
}

bool ProgressInbox::is_stopping() const {
  std::lock_guard lock(mutex_);
  return is_stopping_;
}

bool ProgressInbox::begin_sleep(const MessageReceiver* receiver) {
  std::lock_guard lock(mutex_);
  if (!messages_.empty() || is_stopping_ || receiver != receiver_) return false;
  is_asleep_ = true;
  return true;
}

void ProgressInbox::end_sleep() {
  std::lock_guard lock(mutex_);
  is_asleep_ = false;
}

std::vector<std::shared_ptr<OutgoingMessage>> ProgressInbox::end() {
  std::lock_guard lock(mutex_);
  has_ended_ = true;
  return std::exchange(messages_, {});
}

void ProgressInbox::signal() const {
  ucx().ucp_worker_signal(worker_.get());
}

}  // namespace pistachio
