// `pistachio bench join`, `skew`, `overlap` and `scaling`: queries over ranks of this machine, variants by turns, each against T_min.
#pragma once

#include "config/settings.h"
#include "frontend/cli/interrupt_watcher.h"

namespace pistachio {

// The four schedules of a repartition join of generated tables (published figures 5 and 8).
int run_bench_join_command(int argc, char** argv, Settings settings, InterruptWatcher& interrupts);
// The same join with one frequent key, against even keys.
int run_bench_skew_command(int argc, char** argv, Settings settings, InterruptWatcher& interrupts);
// Queries from fully blocking to everything at once (published figures 14 and 15).
int run_bench_overlap_command(int argc, char** argv, Settings settings, InterruptWatcher& interrupts);
// Queries over numbers of ranks and folders of data (published figures 16 and 18).
int run_bench_scaling_command(int argc, char** argv, Settings settings, InterruptWatcher& interrupts);

}  // namespace pistachio
