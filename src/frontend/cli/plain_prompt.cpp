#include <cstdio>

#include "frontend/cli/line_prompt.h"

namespace pistachio {

namespace {

class PlainPrompt final : public LinePrompt {
 public:
  explicit PlainPrompt(TerminalInput& input) : input_(input) {}

  Outcome read(const std::string& prompt, std::string& line) override {
    line.clear();
    // Before the prompt is shown: the user may press Ctrl-C as soon as it is visible.
    input_.start_line();
    // Not fmt::print, which throws if the terminal is gone.
    std::fputs(prompt.c_str(), stderr);
    bool ended = false;
    while (true) {
      char byte = 0;
      switch (input_.next(byte)) {
        case TerminalInput::Event::Interrupt: std::fputs("\n", stderr); return Outcome::Dropped;
        case TerminalInput::Event::End:
          if (line.empty()) return Outcome::End;
          // Ctrl-D after text only submits the text. A terminal that is gone reports End forever.
          if (ended) return Outcome::Line;
          ended = true;
          continue;
        case TerminalInput::Event::Byte: break;
      }
      ended = false;
      if (byte == '\n') return Outcome::Line;
      line += byte;
    }
  }

 private:
  TerminalInput& input_;
};

}  // namespace

std::unique_ptr<LinePrompt> make_plain_prompt(TerminalInput& input) {
  return std::make_unique<PlainPrompt>(input);
}

}  // namespace pistachio
