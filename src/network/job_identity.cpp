#include "network/job_identity.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace pistachio {
namespace {

constexpr int kMaxRanks = 65536;

struct Launcher {
  const char* rank;
  const char* ranks;
  const char* local_rank;
};

constexpr Launcher kLaunchers[] = {
    {"RANK", "WORLD_SIZE", "LOCAL_RANK"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
};
constexpr Launcher kSlurm = {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"};

int read_number(const char* name, std::string_view text, int least, int most) {
  int value = 0;
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    throw UserError(fmt::format("{} is '{}'; it must be a whole number from {} to {}", name, text, least, most));
  }
  return value;
}

// Nullopt if this launcher has not set its variables.
std::optional<JobIdentity> read_launcher(const Launcher& launcher, const EnvironmentLookup& environment) {
  const char* rank = environment(launcher.rank);
  const char* ranks = environment(launcher.ranks);
  if (rank == nullptr && ranks == nullptr) return std::nullopt;
  if (rank == nullptr || ranks == nullptr) {
    throw UserError(fmt::format("{} is set but {} is not: a rank of a job needs both, a process of its own neither",
                                rank == nullptr ? launcher.ranks : launcher.rank, rank == nullptr ? launcher.rank : launcher.ranks));
  }
  JobIdentity identity;
  identity.ranks = read_number(launcher.ranks, ranks, 1, kMaxRanks);
  identity.rank = read_number(launcher.rank, rank, 0, identity.ranks - 1);
  const char* local = environment(launcher.local_rank);
  identity.local_rank = local == nullptr ? 0 : read_number(launcher.local_rank, local, 0, identity.ranks - 1);
  return identity;
}

std::optional<JobIdentity> read_launchers(const EnvironmentLookup& environment) {
  std::optional<JobIdentity> found;
  const Launcher* finder = nullptr;
  for (const Launcher& launcher : kLaunchers) {
    std::optional<JobIdentity> identity = read_launcher(launcher, environment);
    if (!identity) continue;
    if (!found) {
      found = identity;
      finder = &launcher;
    } else if (found->rank != identity->rank || found->ranks != identity->ranks) {
      throw UserError(fmt::format("{}={} of {}={} contradicts {}={} of {}={}: unset those of the launcher that did not start this process",
                                  finder->rank, found->rank, finder->ranks, found->ranks, launcher.rank, identity->rank, launcher.ranks,
                                  identity->ranks));
    }
  }
  // Slurm's variables are also set in a shell of an allocation, and for mpirun's own daemons: they count only in a step of srun without
  // another launcher inside.
  bool in_step = environment("SLURM_STEP_ID") != nullptr || environment("SLURM_STEPID") != nullptr;
  if (!found && in_step) found = read_launcher(kSlurm, environment);
  return found;
}

}  // namespace

std::optional<JobIdentity> job_identity(const EnvironmentLookup& environment) {
  std::optional<JobIdentity> identity = read_launchers(environment);
  if (!identity) return std::nullopt;
  const char* address = environment("MASTER_ADDR");
  const char* port = environment("MASTER_PORT");
  if (identity->ranks > 1 && (address == nullptr || *address == '\0')) {
    throw UserError("MASTER_ADDR is not set; it must be the name or address of the host of rank 0, the same for all ranks");
  }
  if (address != nullptr && *address != '\0') identity->master_address = address;
  if (port != nullptr) identity->master_port = read_number("MASTER_PORT", port, 0, 65535);
  if (identity->master_port == 0 && identity->ranks > 1) {
    throw UserError("MASTER_PORT is 0; it must be the port on which rank 0 listens, the same for all ranks");
  }
  const char* agent_store = environment("TORCHELASTIC_USE_AGENT_STORE");
  identity->launcher_has_store = agent_store != nullptr && std::string_view(agent_store) == "True";
  const char* attempt = environment("TORCHELASTIC_RESTART_COUNT");
  if (attempt != nullptr) identity->attempt = attempt;
  return identity;
}

}  // namespace pistachio
