// Cooperative cancellation. A CancelSource is owned by whoever may stop a piece of work (session, task group); its CancelTokens are cheap
// copies that the work polls. A child source is cancelled when its parent is, never the other way round.
// A deadline belongs to a source and is driven by the timer of the scheduler that runs a task under its token (Scheduler::run).
// Thread-safe; callbacks run on the thread that cancels. Memory: one shared state per source.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace pistachio {

using SteadyTime = std::chrono::steady_clock::time_point;

class CancelState;

class CancelToken {
 public:
  // Never cancelled.
  CancelToken() = default;

  bool is_cancelled() const;
  // Throws Cancelled with the reason.
  void throw_if_cancelled() const {
    if (is_cancelled()) [[unlikely]]
      throw_cancelled();
  }
  // Empty while not cancelled.
  std::string reason() const;
  // The earliest deadline of its source and the source's ancestors.
  std::optional<SteadyTime> deadline() const;
  // Cancels with the reason "deadline passed". For the timer that drives the deadline.
  void expire() const;

 private:
  friend class CancelSource;
  friend class CancelCallback;
  explicit CancelToken(std::shared_ptr<CancelState> state) : state_(std::move(state)) {}
  [[noreturn]] void throw_cancelled() const;

  std::shared_ptr<CancelState> state_;
};

class CancelSource {
 public:
  explicit CancelSource(const CancelToken& parent = {}, std::optional<SteadyTime> deadline = std::nullopt);

  CancelToken token() const { return CancelToken(state_); }
  bool is_cancelled() const { return token().is_cancelled(); }
  // The first reason stays; later calls do nothing. Runs the callbacks before it returns (unless another thread is running them).
  void cancel(std::string reason);

 private:
  std::shared_ptr<CancelState> state_;
};

// Runs `on_cancel` once when the token is cancelled; in the constructor if it already is. The destructor deregisters and, if the callback
// is running on another thread, waits for it to end, so that its captures may be destroyed afterwards. Callbacks must be short, must not
// throw, and must not take a lock that is held while a CancelCallback is destroyed.
class CancelCallback {
 public:
  CancelCallback(const CancelToken& token, std::function<void()> on_cancel);
  ~CancelCallback();
  CancelCallback(const CancelCallback&) = delete;
  CancelCallback& operator=(const CancelCallback&) = delete;

 private:
  friend class CancelState;
  std::shared_ptr<CancelState> state_;
  std::function<void()> on_cancel_;
  // Neighbours in the list of the state; guarded by the state's lock.
  CancelCallback* previous_ = nullptr;
  CancelCallback* next_ = nullptr;
  bool linked_ = false;
};

// Shared by a source, its tokens and its callbacks.
class CancelState : public std::enable_shared_from_this<CancelState> {
 public:
  explicit CancelState(std::optional<SteadyTime> deadline) : deadline_(deadline) {}

  void follow(const CancelToken& parent);
  void cancel(std::string reason);
  bool is_cancelled() const { return cancelled_.load(std::memory_order_acquire); }
  std::string reason() const;
  std::optional<SteadyTime> deadline() const { return deadline_; }

  // False, without adding the callback, if the state is already cancelled.
  bool add(CancelCallback& callback);
  void remove(CancelCallback& callback);

 private:
  void unlink(CancelCallback& callback);

  const std::optional<SteadyTime> deadline_;
  std::atomic<bool> cancelled_ = false;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::string reason_;
  CancelCallback* first_ = nullptr;
  CancelCallback* running_ = nullptr;
  std::thread::id running_thread_;
  std::condition_variable callback_ended_;
  // Set once, before the state is shared.
  std::unique_ptr<CancelCallback> parent_link_;
};

inline bool CancelToken::is_cancelled() const {
  return state_ != nullptr && state_->is_cancelled();
}

}  // namespace pistachio
