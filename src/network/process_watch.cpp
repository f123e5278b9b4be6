#include "network/process_watch.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

namespace pistachio {

ProcessWatch::ProcessWatch(int64_t process) {
  if (process > 0) descriptor_ = static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(process), 0));
}

ProcessWatch::~ProcessWatch() {
  stop();
}

ProcessWatch::ProcessWatch(ProcessWatch&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

ProcessWatch& ProcessWatch::operator=(ProcessWatch&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

bool ProcessWatch::has_ended() const {
  if (descriptor_ < 0) return false;
  pollfd descriptor{descriptor_, POLLIN, 0};
  return poll(&descriptor, 1, 0) == 1;
}

void ProcessWatch::stop() {
  if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
}

}  // namespace pistachio
