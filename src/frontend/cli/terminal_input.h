// Bytes typed by the user, with Ctrl-C as a separate event: cancelling the token wakes up a read that waits for the terminal. One thread
// reads; any thread cancels. Memory: one small buffer.
#pragma once

#include <cstddef>

#include "frontend/cli/interrupt_watcher.h"

namespace pistachio {

class TerminalInput {
 public:
  enum class Event { Byte, End, Interrupt };

  TerminalInput(int descriptor, InterruptScope& interrupts);
  ~TerminalInput();
  TerminalInput(const TerminalInput&) = delete;
  TerminalInput& operator=(const TerminalInput&) = delete;

  // Call before reading a line: from now on Ctrl-C interrupts it.
  void start_line();
  // Waits for the next byte. Interrupt discards the input typed so far and ends the line. Throws Cancelled if the whole command is
  // cancelled, UserError if the terminal cannot be read.
  Event next(char& byte);

 private:
  bool is_interrupted();

  int descriptor_;
  int wake_descriptor_;  // readable after Ctrl-C
  InterruptScope& interrupts_;
  CancelToken token_;
  char buffer_[4096];
  size_t filled_ = 0;
  size_t taken_ = 0;
};

}  // namespace pistachio
