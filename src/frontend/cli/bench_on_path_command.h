// `pistachio bench onpath`: the published on-path pipeline (deduplication on the way from source hosts to a sink) as an experiment.
#pragma once

#include "config/settings.h"
#include "frontend/cli/interrupt_watcher.h"

namespace pistachio {

int run_bench_on_path_command(int argc, char** argv, Settings settings, InterruptWatcher& interrupts);

}  // namespace pistachio
