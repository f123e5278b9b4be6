// Entry point of the `pistachio` binary.
#include "frontend/cli/command_line.h"
#include "network/ucx_handles.h"

int main(int argc, char** argv) {
  pistachio::tame_ucx();
  return pistachio::run_command_line(argc, argv);
}
