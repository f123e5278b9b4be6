// `pistachio cluster`: runs SQL on several ranks.
#pragma once

#include "config/settings.h"
#include "frontend/cli/interrupt_watcher.h"

namespace pistachio {

// With -n starts that many ranks on this machine; without, joins the job that a launcher (torchrun, mpirun, srun) has started this process
// for. The first rank runs what stands behind `--`, or a prompt.
int run_cluster_command(int argc, char** argv, Settings settings, InterruptWatcher& interrupts);

}  // namespace pistachio
