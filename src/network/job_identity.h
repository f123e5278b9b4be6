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
  int master_port = 29500;                   // 0: any; then the launcher tells the others which
  // torchrun keeps the store at that address itself: rank 0 must not open one.
  bool launcher_has_store = false;
  std::string attempt = "0";  // differs each time a launcher starts the same job again
};

// Gives null for a variable that is not set, as getenv does.
using EnvironmentLookup = std::function<const char*(const char*)>;

// Nothing: this process is no part of a job. Throws UserError that names the variable which is missing, wrong or contradicts another.
std::optional<JobIdentity> job_identity(const EnvironmentLookup& environment);

}  // namespace pistachio
