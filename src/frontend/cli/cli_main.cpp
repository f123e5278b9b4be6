// Entry point of the `pistachio` binary.
#include <cstdlib>

#include "frontend/cli/command_line.h"
#include "network/ucx_handles.h"

int main(int argc, char** argv) {
  pistachio::tame_ucx(std::getenv("UCX_LOG_LEVEL") != nullptr);
  return pistachio::run_command_line(argc, argv);
}
