// Bytes that a person types, with Ctrl-C as an event of its own: a read that waits for the terminal wakes up when the token is cancelled.
// One thread reads; any thread cancels. Memory: one small buffer.
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

  // Before a line is read: a Ctrl-C from now on interrupts it.
  void start_line();
  // Waits for the next byte. After Interrupt what was typed before is forgotten, and the line is over. Throws Cancelled when the whole
  // command is, UserError when the terminal cannot be read.
  Event next(char& byte);

 private:
  bool is_interrupted();

  int descriptor_;
  int wake_descriptor_;  // readable when a Ctrl-C came
  InterruptScope& interrupts_;
  CancelToken token_;
  char buffer_[4096];
  size_t filled_ = 0;
  size_t taken_ = 0;
};

}  // namespace pistachio
