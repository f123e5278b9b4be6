// SQL from the command line: `pistachio [-d DIR] [-c SQL]... [-f FILE]... [--format F]`. Data goes to stdout, everything else to stderr.
#pragma once

#include "config/settings.h"
#include "frontend/cli/interrupt_watcher.h"

namespace pistachio {

// Exit code: 0, or 1 after an error in a statement. Throws UsageError, Cancelled.
int run_query_command(int argc, char** argv, Settings settings, InterruptWatcher& interrupts);

}  // namespace pistachio
