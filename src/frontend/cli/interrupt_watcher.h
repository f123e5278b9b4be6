// Turns Ctrl-C into cancellation: SIGINT and SIGTERM are blocked in every thread, and one thread of this object waits for them and cancels
// the command; a second signal, or a command that has not ended a few seconds after the first, ends the process at once. While an
// InterruptScope lives, Ctrl-C cancels what runs under the scope's token instead, and the command goes on. Make it before any other
// thread starts.
#pragma once

#include <mutex>
#include <optional>
#include <thread>

#include "base/cancel_token.h"

namespace pistachio {

// How a process ends that was asked to: 128 and the number of the signal.
constexpr int kInterruptedExitCode = 130;
constexpr int kTerminatedExitCode = 143;
// Of a command that was cancelled by this watcher, from the reason its token gives.
int exit_code_of(const CancelToken& cancelled);

class InterruptWatcher {
 public:
  InterruptWatcher();
  ~InterruptWatcher();
  InterruptWatcher(const InterruptWatcher&) = delete;
  InterruptWatcher& operator=(const InterruptWatcher&) = delete;

  // Of the whole command.
  CancelToken token() const { return source_.token(); }

 private:
  friend class InterruptScope;

  void run_thread();
  // What Ctrl-C stops short of the command; nothing when no scope lives.
  std::optional<CancelSource> scope_source();

  CancelSource source_;
  std::mutex mutex_;
  std::optional<CancelSource> scope_source_;  // guarded by mutex_
  std::thread thread_;
};

// For prompts. One at a time.
class InterruptScope {
 public:
  explicit InterruptScope(InterruptWatcher& watcher);
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

  // A token for the next piece of work, which the next Ctrl-C cancels. Tokens given before are out of its reach.
  CancelToken next_token();
  // Of the whole command.
  CancelToken command_token() const { return watcher_.token(); }

 private:
  InterruptWatcher& watcher_;
};

}  // namespace pistachio
