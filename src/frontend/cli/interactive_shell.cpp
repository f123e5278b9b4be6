#include "frontend/cli/interactive_shell.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "base/error.h"
#include "frontend/cli/line_prompt.h"
#include "frontend/cli/standard_output.h"
#include "frontend/cli/terminal_input.h"

namespace pistachio {

namespace {

bool is_goodbye(const std::string& line) {
  return line == "exit" || line == "quit" || line == "\\q" || line == ".exit" || line == ".quit";
}

}  // namespace

void run_interactive_shell(StatementRunner& runner, Session& session, InterruptWatcher& interrupts) {
  InterruptScope scope(interrupts);
  TerminalInput input(STDIN_FILENO, scope);
  PromptHistory history(history_file_path(std::getenv("XDG_STATE_HOME"), std::getenv("HOME")));
  SqlCompletion completion([&] { return session.table_names(); });
  std::unique_ptr<LinePrompt> prompt = make_line_prompt(input, history, completion);
  StatementLines lines;
  std::string line;
  while (true) {
    LinePrompt::Outcome outcome = prompt->read(lines.text().empty() ? "pistachio> " : "       ... ", line);
    if (outcome == LinePrompt::Outcome::End) break;
    if (outcome == LinePrompt::Outcome::Dropped) {
      lines.clear();
      continue;
    }
    if (lines.text().empty() && is_goodbye(line)) return;
    lines.add(line);
    if (lines.is_open()) continue;
    try {
      runner.run_text(lines.text(), scope.next_token());
    } catch (const Cancelled& error) {
      interrupts.token().throw_if_cancelled();
      print_to_standard_error("error: {}\n", error.message());
    }
    lines.clear();
  }
  // Ctrl-D leaves the cursor after the prompt. Not fmt::print, which would throw if the terminal is gone.
  std::fputs("\n", stderr);
}

}  // namespace pistachio
