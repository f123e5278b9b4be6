// `pistachio schema`: columns, types, rows, row groups, encodings, codecs, sizes and pages per chunk of Parquet files.
#pragma once

#include "config/settings.h"
#include "frontend/cli/interrupt_watcher.h"

namespace pistachio {

int run_schema_command(int argc, char** argv, Settings settings, InterruptWatcher& interrupts);

}  // namespace pistachio
