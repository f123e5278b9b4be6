// `pistachio bench alltoall`: bandwidth over the size of messages (published figure 7): of messages alone, of rows that are partitioned, of
// a join, and beside them UCX's own benchmark.
#pragma once

#include "config/settings.h"
#include "frontend/cli/interrupt_watcher.h"

namespace pistachio {

// Also what its other ranks run.
int run_bench_all_to_all_command(int argc, char** argv, Settings settings, InterruptWatcher& interrupts);

}  // namespace pistachio
