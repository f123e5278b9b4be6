// `pistachio cluster`: runs SQL on several ranks.
#pragma once

#include "config/settings.h"
#include "frontend/cli/interrupt_watcher.h"

namespace pistachio {

// With -n, starts that many ranks on this machine; without, joins the job for which a launcher (torchrun, mpirun, srun) started this
// process. The first rank runs the command after `--`, or a prompt.
int run_cluster_command(int argc, char** argv, Settings settings, InterruptWatcher& interrupts);

}  // namespace pistachio
