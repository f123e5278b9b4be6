// Turns Ctrl-C into cancellation: SIGINT and SIGTERM are blocked in every thread, and one thread of this object waits for them and cancels
// the command. A second signal, or a command still running a few seconds after the first, ends the process at once. During an
// InterruptScope Ctrl-C cancels the scope's token instead, and the command continues. Create it before any other thread starts.
#pragma once

#include <mutex>
#include <optional>
#include <thread>

#include "base/cancel_token.h"

namespace pistachio {

// Exit codes of an interrupted process: 128 plus the signal.
constexpr int kInterruptedExitCode = 130;
constexpr int kTerminatedExitCode = 143;
// The exit code of a command cancelled by this watcher, from the token's reason.
int exit_code_of(const CancelToken& cancelled);

class InterruptWatcher {
 public:
  InterruptWatcher();
  ~InterruptWatcher();
  InterruptWatcher(const InterruptWatcher&) = delete;
  InterruptWatcher& operator=(const InterruptWatcher&) = delete;

  // Cancelled with the whole command.
  CancelToken token() const { return source_.token(); }

 private:
  friend class InterruptScope;

  void run_thread();
  // What Ctrl-C cancels instead of the command; nullopt outside a scope.
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

  // A token for the next piece of work, which the next Ctrl-C cancels. Ctrl-C no longer affects earlier tokens.
  CancelToken next_token();
  // Cancelled with the whole command.
  CancelToken command_token() const { return watcher_.token(); }

 private:
  InterruptWatcher& watcher_;
};

}  // namespace pistachio
