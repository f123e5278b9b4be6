// This process's rank and job, from the variables set by launchers: torchrun (and `pistachio cluster`), mpirun, PMI, srun. Pure: the environment is
// passed in.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace pistachio {

struct JobIdentity {
  int rank = 0;
  int ranks = 1;
  int local_rank = 0;
  std::string master_address = "127.0.0.1";  // of rank 0
  int master_port = 29500;                   // 0: any; the launcher then passes it to the others
  // torchrun itself serves a store at that address: rank 0 must not open one.
  bool launcher_has_store = false;
  std::string attempt = "0";  // differs each time a launcher restarts the same job
};

// Returns null for unset variables, as getenv does.
using EnvironmentLookup = std::function<const char*(const char*)>;

// Nullopt if this process is not part of a job. Throws UserError naming the variable that is missing, wrong or contradicts another.
std::optional<JobIdentity> job_identity(const EnvironmentLookup& environment);

}  // namespace pistachio
