#include "frontend/cli/cluster_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>

#include "frontend/cli/command_arguments.h"
#include "frontend/cli/query_command.h"
#include "frontend/cli/rank_job.h"
#include "frontend/cli/simulated_hosts.h"
#include "frontend/cli/standard_output.h"
#include "frontend/cli/text_table.h"

namespace pistachio {

namespace {

// Upper limit of -n.
constexpr int64_t kMaxLocalRanks = 1024;

std::string host_played(const CommandArguments& arguments, const JobIdentity& identity) {
  const std::optional<std::string> hosts = arguments.value("--hosts");
  return hosts ? simulated_host(*hosts, identity.rank, identity.ranks) : "";
}

std::string node_text(int node) {
  return node < 0 ? "-" : std::to_string(node);
}

// NUMA nodes, GPUs and network devices of this machine.
void print_devices(const std::string& host, const MachineTopology& topology) {
  TextTable table({{"host"}, {"kind"}, {"name"}, {"PCI address"}, {"node", TextTable::Align::Right}, {"cores"}});
  for (const MachineTopology::NumaNode& node : topology.nodes)
    table.add({host, "NUMA node", std::to_string(node.number), "-", std::to_string(node.number), to_text(node.cores)});
  auto add = [&](const char* kind, const std::vector<MachineDevice>& devices) {
    for (const MachineDevice& device : devices)
      table.add({host, kind, device.name, device.address.empty() ? "-" : device.address, node_text(device.numa_node), "-"});
  };
  add("GPU", topology.gpus);
  add("RDMA", topology.rdma);
  add("network", topology.nets);
  fmt::print("{}", table.to_string(120));
}

// The devices of a rank: its assigned one of several, else the only one, else "-".
std::vector<std::string> device_texts(const RankJob& job, const RankInfo& rank, int place) {
  bool is_here = rank.machine_index == job.meeting().ranks[static_cast<size_t>(job.rank())].machine_index;
  if (!is_here || static_cast<size_t>(place) >= job.places().size()) return {"?", "?", "?"};
  const RankPlace& own = job.places()[static_cast<size_t>(place)];
  auto name = [](const std::optional<size_t>& chosen, const std::vector<MachineDevice>& devices) {
    if (chosen) return devices[*chosen].name;
    return devices.size() == 1 ? devices[0].name : std::string("-");
  };
  return {node_text(own.numa_node), name(own.gpu, job.topology().gpus), name(own.rdma, job.topology().rdma)};
}

void print_topology(RankJob& job, const Settings& settings) {
  using Align = TextTable::Align;
  TextTable table({{"rank", Align::Right},
                   {"host", Align::Left},
                   {"process", Align::Right},
                   {"cores", Align::Left},
                   {"threads", Align::Right},
                   {"node", Align::Right},
                   {"GPU", Align::Left},
                   {"RDMA", Align::Left},
                   {"route to rank 0", Align::Left}});
  std::map<int, int> ranks_so_far;  // per machine
  for (const RankInfo& rank : job.meeting().ranks) {
    MachineShare share = share_of_machine(job.meeting().ranks, rank.rank);
    int64_t threads = settings.threads == 0 ? share.threads() : settings.threads;
    std::string cores = to_text(share.cores) + (share.is_exclusive ? "" : " (shared)");
    std::string route = rank.rank == 0 ? "(itself)" : job.transport().route(rank.rank);
    std::vector<std::string> devices = device_texts(job, rank, ranks_so_far[rank.machine_index]++);
    table.add({std::to_string(rank.rank), rank.host, std::to_string(rank.pid), cores, std::to_string(threads), devices[0], devices[1],
               devices[2], route});
  }
  fmt::print("{}\n", table.to_string(120));
  print_devices(job.meeting().ranks[0].host, job.topology());
}

// For a process without a launcher: the first rank of a job that it starts itself.
JobIdentity local_identity(const CommandArguments& arguments) {
  if (!arguments.has("-n"))
    throw UsageError("-n says how many ranks to start; without it the command joins a job of torchrun, mpirun or srun, and this is none");
  int64_t ranks = arguments.count("-n", 1);
  if (ranks > kMaxLocalRanks) throw UsageError(fmt::format("option -n takes a whole number from 1 to {}, not {}", kMaxLocalRanks, ranks));
  return identity_of_local_job(static_cast<int>(ranks));
}

// Everything after `--`.
std::pair<int, char**> split_at_dashes(int& argc, char** argv) {
  for (int i = 0; i < argc; ++i) {
    if (std::string_view(argv[i]) != "--") continue;
    std::pair<int, char**> rest{argc - i - 1, argv + i + 1};
    argc = i;
    return rest;
  }
  return {0, nullptr};
}

int take_part(RankJob::Options options, bool shows_topology, const QueryArguments& query, const Settings& settings,
              InterruptWatcher& interrupts) {
  RankJob job(std::move(options), settings, interrupts);
  if (shows_topology) {
    const RankInfo& own = job.meeting().ranks[static_cast<size_t>(job.rank())];
    bool is_first_of_machine =
        std::none_of(job.meeting().ranks.begin(), job.meeting().ranks.begin() + job.rank(),
                     [&](const RankInfo& other) { return other.machine_index == own.machine_index; });
    if (job.rank() == 0) {
      job.connect();
      print_topology(job, settings);
      return 0;
    }
    // The first rank cannot see the devices of other machines.
    if (is_first_of_machine) print_devices(own.host, job.topology());
    flush_standard_output();
  }
  RankEngine rank(job, settings);
  if (job.rank() != 0) {
    rank.ranks().wait(interrupts.token());
    return 0;
  }
  return run_queries(query, rank.engine(), &rank.ranks(), interrupts);
}

}  // namespace

int run_cluster_command(int argc, char** argv, Settings settings, InterruptWatcher& interrupts) {
  std::vector<std::string> own_words = {"pistachio", "cluster"};
  auto [query_argc, query_argv] = split_at_dashes(argc, argv);
  for (int i = 0; i < argc; ++i) own_words.emplace_back(argv[i]);
  CommandArguments arguments(argc, argv, {{"-n", true}, {"--hosts", true}, {"--topology", false}, {kParentOption, true}}, settings);
  if (arguments.has(kParentOption)) end_with_parent(static_cast<pid_t>(arguments.count(kParentOption, 1)));
  if (!arguments.positional().empty())
    throw UsageError(fmt::format("put '--' before the command of the first rank: there is no option '{}'", arguments.positional()[0]));
  QueryArguments query = parse_query_arguments(query_argc, query_argv, settings);
  if (arguments.has("--topology") && !(query.scripts.empty() && query.folders.empty()))
    throw UsageError("--topology runs no SQL: omit everything after '--'");

  std::optional<JobIdentity> identity = job_identity([](const char* name) { return std::getenv(name); });
  bool is_local = !identity;
  if (is_local) {
    identity = local_identity(arguments);
  } else if (arguments.has("-n") && arguments.count("-n", 1) != identity->ranks) {
    throw UsageError(fmt::format("-n {} contradicts the job that this process is part of, which has {} ranks", arguments.count("-n", 1),
                                 identity->ranks));
  }

  RankJob::Options options{.identity = *identity, .host = host_played(arguments, *identity), .others = {}, .query_words = {}};
  if (is_local) {
    options.others = std::move(own_words);
    for (int i = 0; i < query_argc; ++i) options.query_words.emplace_back(query_argv[i]);
  }
  try {
    return take_part(std::move(options), arguments.has("--topology"), query, settings, interrupts);
  } catch (const std::exception&) {
    // The first rank reports the cancellation, where the user sees it.
    if (identity->rank == 0 || !interrupts.token().is_cancelled()) throw;
    return exit_code_of(interrupts.token());
  }
}

}  // namespace pistachio
