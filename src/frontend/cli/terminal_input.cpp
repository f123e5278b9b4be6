#include "frontend/cli/terminal_input.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace pistachio {

TerminalInput::TerminalInput(int descriptor, InterruptScope& interrupts)
    : descriptor_(descriptor), wake_descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), interrupts_(interrupts) {
  if (wake_descriptor_ < 0) throw UserError(fmt::format("cannot watch the terminal: {}", std::strerror(errno)));
}

TerminalInput::~TerminalInput() {
  ::close(wake_descriptor_);
}

void TerminalInput::start_line() {
  token_ = interrupts_.next_token();
}

bool TerminalInput::is_interrupted() {
  if (!token_.is_cancelled()) return false;
  interrupts_.command_token().throw_if_cancelled();
  filled_ = taken_ = 0;
  return true;
}

TerminalInput::Event TerminalInput::next(char& byte) {
  CancelCallback wake(token_, [this] { ::eventfd_write(wake_descriptor_, 1); });
  while (true) {
    if (is_interrupted()) return Event::Interrupt;
    if (taken_ < filled_) {
      byte = buffer_[taken_++];
      return Event::Byte;
    }
    pollfd waited[] = {{descriptor_, POLLIN, 0}, {wake_descriptor_, POLLIN, 0}};
    if (::poll(waited, 2, -1) < 0 && errno != EINTR) throw UserError(fmt::format("cannot wait for the terminal: {}", std::strerror(errno)));
    // Includes a Ctrl-C from an earlier line.
    eventfd_t wakes = 0;
    if (waited[1].revents != 0) ::eventfd_read(wake_descriptor_, &wakes);
    if (waited[0].revents == 0 || token_.is_cancelled()) continue;
    ssize_t count = ::read(descriptor_, buffer_, sizeof buffer_);
    if (count == 0) return Event::End;
    if (count < 0 && errno == EIO) return Event::End;  // the terminal was closed
    if (count < 0 && errno != EINTR && errno != EAGAIN) throw UserError(fmt::format("cannot read the terminal: {}", std::strerror(errno)));
    taken_ = 0;
    filled_ = count < 0 ? 0 : static_cast<size_t>(count);
  }
}

}  // namespace pistachio
