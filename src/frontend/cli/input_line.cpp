#include "frontend/cli/input_line.h"

#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "frontend/cli/interrupt_watcher.h"

namespace pistachio {

bool read_input_line(std::string& line, const CancelToken& token) {
  std::fflush(stdout);
  CancelCallback leave(token, [] {
    std::fputs("error: interrupted\n", stderr);
    std::_Exit(kInterruptedExitCode);
  });
  return static_cast<bool>(std::getline(std::cin, line));
}

}  // namespace pistachio
