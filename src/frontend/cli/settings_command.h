// `pistachio settings`: every setting with its value and description.
#pragma once

#include "config/settings.h"
#include "frontend/cli/interrupt_watcher.h"

namespace pistachio {

int run_settings_command(int argc, char** argv, Settings settings, InterruptWatcher& interrupts);

}  // namespace pistachio
