// Entry point of the `pistachio` binary.
#include "frontend/cli/command_line.h"

int main(int argc, char** argv) {
  return pistachio::run_command_line(argc, argv);
}
