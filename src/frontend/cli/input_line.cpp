#include "frontend/cli/input_line.h"

#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "base/error.h"
#include "frontend/cli/interrupt_watcher.h"
#include "parser/parse.h"

namespace pistachio {

bool read_input_line(std::string& line, const CancelToken& token) {
  std::fflush(stdout);
  CancelCallback leave(token, [&token] {
    std::fprintf(stderr, "error: %s\n", token.reason().c_str());
    std::_Exit(exit_code_of(token));
  });
  constexpr auto longest = static_cast<size_t>(ParseLimits{}.text_bytes);
  line.clear();
  std::streambuf& input = *std::cin.rdbuf();
  for (int letter = input.sbumpc(); letter != std::char_traits<char>::eof(); letter = input.sbumpc()) {
    if (letter == '\n') return true;
    if (line.size() == longest) throw UserError("a line of the input is longer than 16 MiB, the most that a statement may have");
    line += static_cast<char>(letter);
  }
  return !line.empty();
}

}  // namespace pistachio
