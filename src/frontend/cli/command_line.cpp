#include "frontend/cli/command_line.h"

#include <fmt/format.h>

#include <cstdio>
#include <string_view>

#include "frontend/cli/version_command.h"

namespace pistachio {

int run_command_line(int argc, char** argv) {
  std::string_view command = argc > 1 ? argv[1] : "";
  if (command == "version") return run_version_command();
  fmt::print(stderr, "usage: pistachio version\n");
  return 2;
}

}  // namespace pistachio
