#include "frontend/cli/result_output.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstring>

#include "base/error.h"
#include "base/stop_if_cancelled.h"
#include "expr/work_poll.h"
#include "frontend/cli/standard_output.h"

namespace pistachio {

namespace {

// Rounded up, so that the deadline has passed when the wait returns; -1 without a deadline.
int milliseconds_until(std::optional<SteadyTime> deadline) {
  if (!deadline) return -1;
  auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, INT_MAX));
}

}  // namespace

ResultOutput::ResultOutput(std::FILE* target) : target_(target), descriptor_(::fileno(target)), kind_(Kind::Stream) {
  struct stat facts {};
  if (::fstat(descriptor_, &facts) != 0) return;
  if (S_ISFIFO(facts.st_mode)) kind_ = Kind::Pipe;
  if (S_ISSOCK(facts.st_mode)) kind_ = Kind::Socket;
  if (kind_ == Kind::Stream) return;
  wake_descriptor_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_descriptor_ < 0) throw UserError(fmt::format("cannot watch the output: {}", std::strerror(errno)));
}

ResultOutput::~ResultOutput() {
  if (wake_descriptor_ >= 0) ::close(wake_descriptor_);
}

void ResultOutput::write(std::string_view bytes) {
  if (bytes.empty()) return;
  if (kind_ == Kind::Stream) return write_to_stream(bytes);
  // Flush messages printed through stdio first.
  if (std::fflush(target_) != 0) throw_write_error("the result");
  write_to_reader(bytes);
}

void ResultOutput::write_to_stream(std::string_view bytes) {
  WorkPoll poll(&token_);
  for_each_block(bytes, poll, [&](std::string_view block) {
    write_result_bytes(target_, block);
    is_inside_line_ = block.back() != '\n';
  });
}

void ResultOutput::write_to_reader(std::string_view bytes) {
  WorkPoll poll(&token_);
  while (!bytes.empty()) {
    wait_for_reader();
    // O_NONBLOCK would also change the descriptors of other processes that share the pipe. A pipe that poll() calls writable takes
    // PIPE_BUF bytes without blocking.
    ssize_t count = kind_ == Kind::Pipe ? ::write(descriptor_, bytes.data(), std::min<size_t>(bytes.size(), PIPE_BUF))
                                        : ::send(descriptor_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0) {
      if (errno == EINTR || errno == EAGAIN) continue;
      throw_write_error("the result");
    }
    if (count > 0) is_inside_line_ = bytes[static_cast<size_t>(count) - 1] != '\n';
    bytes.remove_prefix(static_cast<size_t>(count));
    if (!bytes.empty()) poll(count);
  }
}

void ResultOutput::wait_for_reader() {
  pollfd waited[] = {{descriptor_, POLLOUT, 0}, {wake_descriptor_, POLLIN, 0}};
  // A cancelled statement still writes what needs no waiting, such as the end of its last line. A closed reader counts as ready: the write
  // reports it.
  if (::poll(waited, 1, 0) > 0) return;
  CancelCallback wake(token_, [this] { ::eventfd_write(wake_descriptor_, 1); });
  while (true) {
    if (::poll(waited, 2, milliseconds_until(token_.deadline())) < 0 && errno != EINTR)
      throw UserError(fmt::format("cannot wait for the reader of the result: {}", std::strerror(errno)));
    eventfd_t wakes = 0;
    if (waited[1].revents != 0) ::eventfd_read(wake_descriptor_, &wakes);
    if (waited[0].revents != 0) return;
    stop_if_cancelled(token_);
  }
}

}  // namespace pistachio
