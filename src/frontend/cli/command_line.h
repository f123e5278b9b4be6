// Turns the command line into one command, runs it and gives the exit code: 0 all went well, 1 an error, 2 wrong usage, 130 Ctrl-C, 143 SIGTERM.
#pragma once

namespace pistachio {

int run_command_line(int argc, char** argv);

}  // namespace pistachio
