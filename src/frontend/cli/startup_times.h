// How long the process took to start, by phase. The first ones happen before `main`: the linker calls `note_libraries_loaded` before any library is
// initialized, and a static object of this file is initialized after all libraries. One thread.
#pragma once

#include <string_view>
#include <vector>

namespace pistachio {

struct StartupPhase {
  std::string_view name;
  double wall_seconds = 0;
  double cpu_seconds = 0;
};

class StartupTimes {
 public:
  // Ends the phase before `main`: static objects of the program.
  static void note_main();

  StartupTimes();
  // Ends the phase that began with the previous one.
  void end_phase(std::string_view name);
  const std::vector<StartupPhase>& phases() const { return phases_; }

 private:
  struct Moment {
    double wall = 0;
    double cpu = 0;
  };
  static Moment now();
  // By the clock of the kernel, which ticks every 10 ms.
  static double process_begin();

  std::vector<StartupPhase> phases_;
  Moment last_;
};

}  // namespace pistachio
