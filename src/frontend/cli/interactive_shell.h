// The prompt: reads statements from the terminal and runs each as soon as it is complete. Errors do not end it; Ctrl-C drops the line or
// cancels the running query and nothing else: settings, views and tables in memory stay.
#pragma once

#include "frontend/cli/interrupt_watcher.h"
#include "frontend/cli/statement_runner.h"
#include "session/session.h"

namespace pistachio {

// Runs until the end of the input. Throws Cancelled if the whole command is cancelled.
void run_interactive_shell(StatementRunner& runner, Session& session, InterruptWatcher& interrupts);

}  // namespace pistachio
