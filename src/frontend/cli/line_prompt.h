// Asks a person for a line, with the terminal's own simple editing. Prompts go to stderr: stdout is for data. One thread.
#pragma once

#include <memory>
#include <string>

#include "frontend/cli/terminal_input.h"

namespace pistachio {

class LinePrompt {
 public:
  enum class Outcome { Line, Dropped, End };

  virtual ~LinePrompt() = default;
  // `line` is without its end. Dropped: Ctrl-C. Throws Cancelled when the whole command is.
  virtual Outcome read(const std::string& prompt, std::string& line) = 0;
};

std::unique_ptr<LinePrompt> make_plain_prompt(TerminalInput& input);

}  // namespace pistachio
