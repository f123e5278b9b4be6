// Parses the command line, runs one command and returns the exit code: 0 success, 1 error, 2 wrong usage, 130 Ctrl-C, 143 SIGTERM.
#pragma once

namespace pistachio {

int run_command_line(int argc, char** argv);

}  // namespace pistachio
