// `pistachio bench alltoall`: bandwidth by message size (published figure 7), for plain messages, for a shuffle and for a join, compared
// with UCX's own benchmark.
#pragma once

#include "config/settings.h"
#include "frontend/cli/interrupt_watcher.h"

namespace pistachio {

// The other ranks run this too.
int run_bench_all_to_all_command(int argc, char** argv, Settings settings, InterruptWatcher& interrupts);

}  // namespace pistachio
