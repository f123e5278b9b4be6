#include "frontend/cli/interrupt_watcher.h"

#include <pthread.h>

#include <csignal>
#include <cstdlib>

namespace pistachio {

namespace {

sigset_t watched_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGUSR2);  // ends the watching thread
  return signals;
}

}  // namespace

InterruptWatcher::InterruptWatcher() {
  std::signal(SIGPIPE, SIG_IGN);
  sigset_t signals = watched_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  thread_ = std::thread([this] {
    sigset_t waited = watched_signals();
    int signal = 0;
    while (sigwait(&waited, &signal) == 0) {
      if (signal == SIGUSR2) return;
      // The first signal cancels and lets everything be freed; who asks again wants out at once.
      if (interrupted_) std::_Exit(130);
      interrupted_ = true;
      source_.cancel("interrupted");
    }
  });
}

InterruptWatcher::~InterruptWatcher() {
  pthread_kill(thread_.native_handle(), SIGUSR2);
  thread_.join();
}

}  // namespace pistachio
