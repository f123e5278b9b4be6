// Entry point of the `pistachio` binary.
#include <fcntl.h>

#include <cstdio>
#include <cstdlib>

#include "frontend/cli/command_line.h"
#include "frontend/cli/startup_times.h"

namespace {

// Descriptors 0 to 2 may be closed, as some daemons do: files opened later must not take their numbers. Reading yields nothing and writing
// fails, as before.
void occupy_standard_descriptors() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) >= 0) continue;
    if (open("/dev/null", O_RDONLY) < 0) return;
  }
}

// Exits without running static destructors: libtorch's deregister thousands of operators, a third of the run time of a short command, and
// ours have nothing to do. Sanitizers report leaks in an exit handler, so their builds return from main.
int leave(int status) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return status;
#else
  std::fflush(nullptr);
  std::_Exit(status);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  pistachio::StartupTimes::note_main();
  occupy_standard_descriptors();
  return leave(pistachio::run_command_line(argc, argv));
}
