#include "frontend/cli/input_line.h"

#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "frontend/cli/interrupt_watcher.h"

namespace pistachio {

bool read_input_line(std::string& line, const CancelToken& token) {
  std::fflush(stdout);
  CancelCallback leave(token, [&token] {
    std::fprintf(stderr, "error: %s\n", token.reason().c_str());
    std::_Exit(exit_code_of(token));
  });
  return static_cast<bool>(std::getline(std::cin, line));
}

}  // namespace pistachio
