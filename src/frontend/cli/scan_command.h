// `pistachio scan`: reads Parquet files and reports the speed, with a summary of every column as proof. `--serve` keeps the process alive
// and answers one JSON request per line, for benchmarks that compare long-lived processes.
#pragma once

#include "config/settings.h"
#include "frontend/cli/interrupt_watcher.h"

namespace pistachio {

int run_scan_command(int argc, char** argv, Settings settings, InterruptWatcher& interrupts);

}  // namespace pistachio
