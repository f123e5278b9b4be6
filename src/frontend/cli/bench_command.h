// `pistachio bench KIND`: one of the benchmarks that bench_command.cpp lists.
#pragma once

#include "config/settings.h"
#include "frontend/cli/interrupt_watcher.h"

namespace pistachio {

int run_bench_command(int argc, char** argv, Settings settings, InterruptWatcher& interrupts);

}  // namespace pistachio
