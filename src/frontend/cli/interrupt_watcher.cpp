#include "frontend/cli/interrupt_watcher.h"

#include <pthread.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "base/start_thread.h"

namespace pistachio {

namespace {

constexpr const char* kTerminated = "terminated";

sigset_t watched_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGUSR2);  // stops the watcher thread
  return signals;
}

// Gives the cancelled command a few seconds to clean up and exit by itself; a second signal ends the process at once. Library calls, above
// all to object stores, cannot be cancelled, so the wait is bounded.
void end_soon(const CancelToken& token) {
  constexpr timespec timeout{3, 0};
  sigset_t waited = watched_signals();
  int signal = sigtimedwait(&waited, nullptr, &timeout);
  if (signal == SIGUSR2) return;
  if (signal < 0) std::fprintf(stderr, "error: %s\n", token.reason().c_str());
  std::_Exit(exit_code_of(token));
}

}  // namespace

int exit_code_of(const CancelToken& cancelled) {
  return cancelled.reason() == kTerminated ? kTerminatedExitCode : kInterruptedExitCode;
}

InterruptWatcher::InterruptWatcher() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // exceeding the file size limit (ulimit -f) is an ordinary write error
  sigset_t signals = watched_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  thread_ = start_thread("signals", "the limit on processes (ulimit -u) is too low", [this] { run_thread(); });
}

InterruptWatcher::~InterruptWatcher() {
  pthread_kill(thread_.native_handle(), SIGUSR2);
  thread_.join();
}

void InterruptWatcher::run_thread() {
  sigset_t waited = watched_signals();
  int signal = 0;
  while (sigwait(&waited, &signal) == 0) {
    if (signal == SIGUSR2) return;
    std::optional<CancelSource> piece = signal == SIGINT ? scope_source() : std::nullopt;
    if (piece) {
      piece->cancel("interrupted");
      continue;
    }
    source_.cancel(signal == SIGTERM ? kTerminated : "interrupted");
    end_soon(source_.token());
    return;
  }
}

std::optional<CancelSource> InterruptWatcher::scope_source() {
  std::lock_guard lock(mutex_);
  return scope_source_;
}

InterruptScope::InterruptScope(InterruptWatcher& watcher) : watcher_(watcher) {
  next_token();
}

InterruptScope::~InterruptScope() {
  std::lock_guard lock(watcher_.mutex_);
  watcher_.scope_source_.reset();
}

CancelToken InterruptScope::next_token() {
  CancelSource fresh(watcher_.token());
  std::lock_guard lock(watcher_.mutex_);
  watcher_.scope_source_ = fresh;
  return fresh.token();
}

}  // namespace pistachio
