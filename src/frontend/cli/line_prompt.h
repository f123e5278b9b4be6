// Reads a line from the user. With libedit the line can be edited, recalled and completed; without it, or on a terminal that does not
// support that, only the terminal's own editing is available. Prompts go to stderr: stdout is for data. One thread.
#pragma once

#include <memory>
#include <string>

#include "frontend/cli/prompt_history.h"
#include "frontend/cli/sql_completion.h"
#include "frontend/cli/terminal_input.h"

namespace pistachio {

class LinePrompt {
 public:
  enum class Outcome { Line, Dropped, End };

  virtual ~LinePrompt() = default;
  // `line` excludes the newline. Dropped: Ctrl-C. Throws Cancelled if the whole command is cancelled.
  virtual Outcome read(const std::string& prompt, std::string& line) = 0;
};

std::unique_ptr<LinePrompt> make_plain_prompt(TerminalInput& input);
// The best one for this terminal. All arguments must outlive it.
std::unique_ptr<LinePrompt> make_line_prompt(TerminalInput& input, PromptHistory& history, const SqlCompletion& completion);

}  // namespace pistachio
