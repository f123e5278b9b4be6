#include "frontend/cli/startup_times.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>

namespace pistachio {

namespace {

// Times as the kernel gives them: before libraries are initialized nothing else may be called.
struct RawMoment {
  timespec wall{};
  timespec cpu{};
};

RawMoment libraries_loaded;
RawMoment libraries_ready;
RawMoment main_begun;

RawMoment raw_now() {
  RawMoment moment;
  ::clock_gettime(CLOCK_BOOTTIME, &moment.wall);
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &moment.cpu);
  return moment;
}

double seconds(const timespec& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// Sanitizers have to be initialized before any code that they instrument.
void note_libraries_loaded(int, char**, char**) {
  libraries_loaded = raw_now();
}

[[gnu::section(".preinit_array"), gnu::used]] void (*const kBeforeLibraries)(int, char**, char**) = note_libraries_loaded;
#endif

// The first static object of the program.
struct LibrariesReady {
  LibrariesReady() { libraries_ready = raw_now(); }
};

[[gnu::init_priority(101)]] LibrariesReady note_libraries_ready;

}  // namespace

void StartupTimes::note_main() {
  main_begun = raw_now();
}

StartupTimes::StartupTimes() {
  last_ = {process_begin(), 0};
  auto end_at = [&](std::string_view name, const RawMoment& moment) {
    const Moment end{seconds(moment.wall), seconds(moment.cpu)};
    if (end.cpu == 0) return;
    // A process that was forked after the start, as in tests, has times of its own.
    phases_.push_back({name, std::max(0.0, end.wall - last_.wall), std::max(0.0, end.cpu - last_.cpu)});
    last_ = end;
  };
  end_at("libraries loaded", libraries_loaded);
  end_at("libraries initialized", libraries_ready);
  end_at("program initialized", main_begun);
}

void StartupTimes::end_phase(std::string_view name) {
  const Moment end = now();
  phases_.push_back({name, end.wall - last_.wall, end.cpu - last_.cpu});
  last_ = end;
}

StartupTimes::Moment StartupTimes::now() {
  const RawMoment moment = raw_now();
  return {seconds(moment.wall), seconds(moment.cpu)};
}

double StartupTimes::process_begin() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  // The name of the program, in parentheses, may have spaces; the start is field 22, and the next one after the name is the third.
  std::istringstream fields(line.substr(std::min(line.size(), line.rfind(')') + 2)));
  std::string field;
  for (int number = 3; number <= 22; ++number) fields >> field;
  const long ticks = ::sysconf(_SC_CLK_TCK);
  if (!fields || ticks <= 0) return seconds(libraries_loaded.wall);
  return std::stod(field) / static_cast<double>(ticks);
}

}  // namespace pistachio
