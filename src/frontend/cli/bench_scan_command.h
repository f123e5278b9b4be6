// `pistachio bench scan`: runs the published scan variants by name over the same files, interleaved, and compares each with T_min, the time
// that storage alone needs for the bytes; on a GPU, the time that copying them there takes.
#pragma once

#include "config/settings.h"
#include "frontend/cli/interrupt_watcher.h"

namespace pistachio {

int run_bench_scan_command(int argc, char** argv, Settings settings, InterruptWatcher& interrupts);

}  // namespace pistachio
