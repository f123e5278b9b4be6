// `pistachio bench copy`: how fast files get to a GPU on each of the ways that scans take, without decoding them.
#pragma once

#include "config/settings.h"
#include "frontend/cli/interrupt_watcher.h"

namespace pistachio {

int run_bench_copy_command(int argc, char** argv, Settings settings, InterruptWatcher& interrupts);

}  // namespace pistachio
