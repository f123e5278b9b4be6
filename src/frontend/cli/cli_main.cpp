// Entry point of the `pistachio` binary.
#include <fcntl.h>

#include "frontend/cli/command_line.h"

namespace {

// Descriptors 0 to 2 may be closed, as some daemons do: files opened later must not take their numbers. Reading yields nothing and writing
// fails, as before.
void occupy_standard_descriptors() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) >= 0) continue;
    if (open("/dev/null", O_RDONLY) < 0) return;
  }
}

}  // namespace

int main(int argc, char** argv) {
  occupy_standard_descriptors();
  return pistachio::run_command_line(argc, argv);
}
