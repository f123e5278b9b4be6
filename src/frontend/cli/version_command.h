// `pistachio version`: the version of the engine and of every library it was linked with.
#pragma once

#include "config/settings.h"
#include "frontend/cli/interrupt_watcher.h"

namespace pistachio {

int run_version_command(int argc, char** argv, Settings settings, InterruptWatcher& interrupts);

}  // namespace pistachio
