// `pistachio bench join`, `skew`, `overlap` and `scaling`: queries over ranks of this machine, variants interleaved, each compared with
// T_min.
#pragma once

#include "config/settings.h"
#include "frontend/cli/interrupt_watcher.h"

namespace pistachio {

// The four schedules of a repartition join of generated tables (published figures 5 and 8).
int run_bench_join_command(int argc, char** argv, Settings settings, InterruptWatcher& interrupts);
// The same join with one frequent key, compared with uniform keys.
int run_bench_skew_command(int argc, char** argv, Settings settings, InterruptWatcher& interrupts);
// Queries from fully blocking to fully overlapped (published figures 14 and 15).
int run_bench_overlap_command(int argc, char** argv, Settings settings, InterruptWatcher& interrupts);
// Queries over several rank counts and data folders (published figures 16 and 18).
int run_bench_scaling_command(int argc, char** argv, Settings settings, InterruptWatcher& interrupts);

}  // namespace pistachio
