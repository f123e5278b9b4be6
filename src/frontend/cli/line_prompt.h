// Asks a person for a line. With libedit the line can be edited, recalled and completed; without it, or on a terminal that cannot do that,
// the terminal's own simple editing has to do. Prompts go to stderr: stdout is for data. One thread.
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
  // `line` is without its end. Dropped: Ctrl-C. Throws Cancelled when the whole command is.
  virtual Outcome read(const std::string& prompt, std::string& line) = 0;
};

std::unique_ptr<LinePrompt> make_plain_prompt(TerminalInput& input);
// The best one for this terminal. All that is given must outlive it.
std::unique_ptr<LinePrompt> make_line_prompt(TerminalInput& input, PromptHistory& history, const SqlCompletion& completion);

}  // namespace pistachio
