#include "base/cancel_token.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace pistachio {

std::string CancelToken::reason() const {
  return state_ ? state_->reason() : std::string();
}

std::optional<SteadyTime> CancelToken::deadline() const {
  return state_ ? state_->deadline() : std::nullopt;
}

void CancelToken::expire() const {
  if (state_) state_->cancel("cancelled: the deadline passed");
}

void CancelToken::throw_cancelled() const {
  throw Cancelled(reason());
}

namespace {

std::optional<SteadyTime> earlier(std::optional<SteadyTime> left, std::optional<SteadyTime> right) {
  if (!left || !right) return left ? left : right;
  return std::min(*left, *right);
}

}  // namespace

CancelSource::CancelSource(const CancelToken& parent, std::optional<SteadyTime> deadline)
    : state_(std::make_shared<CancelState>(earlier(deadline, parent.deadline()))) {
  state_->follow(parent);
}

void CancelSource::cancel(std::string reason) {
  state_->cancel(std::move(reason));
}

CancelCallback::CancelCallback(const CancelToken& token, std::function<void()> on_cancel)
    : state_(token.state_), on_cancel_(std::move(on_cancel)) {
  if (state_ && !state_->add(*this)) on_cancel_();
}

CancelCallback::~CancelCallback() {
  if (state_) state_->remove(*this);
}

void CancelState::follow(const CancelToken& parent) {
  parent_link_ = std::make_unique<CancelCallback>(parent, [this, parent] { cancel(parent.reason()); });
}

std::string CancelState::reason() const {
  std::lock_guard lock(mutex_);
  return reason_;
}

void CancelState::cancel(std::string reason) {
  // The last owner may release this state right now, or in one of the callbacks.
  std::shared_ptr<CancelState> self = weak_from_this().lock();
  if (!self) return;
  std::unique_lock lock(mutex_);
  if (is_cancelled()) return;
  reason_ = std::move(reason);
  cancelled_.store(true, std::memory_order_release);
  running_thread_ = std::this_thread::get_id();
  while (first_ != nullptr) {
    running_ = first_;
    unlink(*running_);
    // Moved out, so that the callback may destroy its CancelCallback.
    std::function<void()> on_cancel = std::move(running_->on_cancel_);
    lock.unlock();
    on_cancel();
    on_cancel = nullptr;
    lock.lock();
    running_ = nullptr;
    callback_ended_.notify_all();
  }
}

bool CancelState::add(CancelCallback& callback) {
  std::lock_guard lock(mutex_);
  if (is_cancelled()) return false;
  callback.next_ = first_;
  if (first_ != nullptr) first_->previous_ = &callback;
  first_ = &callback;
  callback.linked_ = true;
  return true;
}

void CancelState::remove(CancelCallback& callback) {
  std::unique_lock lock(mutex_);
  if (callback.linked_) {
    unlink(callback);
  } else if (running_ == &callback && running_thread_ != std::this_thread::get_id()) {
    callback_ended_.wait(lock, [&] { return running_ != &callback; });
  }
}

void CancelState::unlink(CancelCallback& callback) {
  if (callback.previous_ != nullptr) callback.previous_->next_ = callback.next_;
  if (callback.next_ != nullptr) callback.next_->previous_ = callback.previous_;
  if (first_ == &callback) first_ = callback.next_;
  callback.previous_ = callback.next_ = nullptr;
  callback.linked_ = false;
}

}  // namespace pistachio
