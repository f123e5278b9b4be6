#include "frontend/cli/cluster_command.h"

#include <fmt/format.h>

#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "frontend/cli/command_arguments.h"
#include "frontend/cli/machine_share.h"
#include "frontend/cli/query_command.h"
#include "frontend/cli/rank_keeper.h"
#include "frontend/cli/rank_processes.h"
#include "frontend/cli/text_table.h"
#include "network/job_identity.h"
#include "network/rendezvous.h"
#include "network/ucx_transport.h"
#include "session/rank_service.h"

namespace pistachio {

namespace {

// Ranks of a local cluster get it from the first one, which started them.
constexpr const char* kParentOption = "--parent";

// Plans and rows must mean the same on all ranks.
std::vector<std::pair<std::string, std::string>> settings_that_must_agree(const Settings& settings) {
  return {{"composite_kernels", show_setting(settings, "composite_kernels")}, {"device", show_setting(settings, "device")}};
}

// The machine's cores and memory are shared by the ranks on it, whatever other launchers say about threads.
void share_machine(Settings& settings, const MachineShare& share) {
  if (settings.threads == 0) settings.threads = share.threads();
  if (settings.memory_limit == 0) {
    complete_settings(settings);
    settings.memory_limit /= share.ranks;
    settings.metadata_cache_bytes = 0;
  }
}

// Ranks that play to be on several hosts are dealt out in blocks, as launchers do it.
std::string host_played(const CommandArguments& arguments, const JobIdentity& identity) {
  if (!arguments.has("--hosts")) return "";
  int64_t hosts = arguments.count("--hosts", 1);
  if (hosts > identity.ranks) throw UsageError(fmt::format("--hosts {}: {} ranks cannot be on so many hosts", hosts, identity.ranks));
  return fmt::format("host-{}", identity.rank * hosts / identity.ranks);
}

void print_topology(const Meeting& meeting, const Settings& settings, const UcxTransport& transport) {
  using Align = TextTable::Align;
  TextTable table({{"rank", Align::Right},
                   {"host", Align::Left},
                   {"process", Align::Right},
                   {"cores", Align::Left},
                   {"threads", Align::Right},
                   {"route to rank 0", Align::Left}});
  for (const RankInfo& rank : meeting.ranks) {
    MachineShare share = share_of_machine(meeting.ranks, rank.rank);
    int64_t threads = settings.threads == 0 ? share.threads() : settings.threads;
    std::string cores = to_text(share.cores) + (share.is_exclusive ? "" : " (shared)");
    std::string route = rank.rank == 0 ? "(itself)" : transport.route(rank.rank);
    table.add({std::to_string(rank.rank), rank.host, std::to_string(rank.pid), cores, std::to_string(threads), route});
  }
  fmt::print("{}", table.to_string(120));
}

// Of a process that its launcher does not know as one of a job: the first rank of one that it starts itself.
JobIdentity local_identity(const CommandArguments& arguments) {
  if (!arguments.has("-n"))
    throw UsageError("-n says how many ranks to start; without it the command joins a job of torchrun, mpirun or srun, and this is none");
  JobIdentity identity;
  identity.ranks = static_cast<int>(arguments.count("-n", 1));
  identity.master_port = 0;
  return identity;
}

LinkSurveyOptions link_survey(const Meeting& meeting, UcxTransport& transport, const Settings& settings) {
  LinkSurveyOptions options;
  for (const RankInfo& rank : meeting.ranks) options.hosts.push_back(rank.host_index);
  options.route = [&transport](int rank) { return transport.route(rank); };
  options.largest_message = std::min(options.largest_message, settings.memory_limit / 16);
  return options;
}

RankServiceOptions service_options(const Meeting& meeting, UcxTransport& transport, const Settings& settings) {
  const RankInfo& own = meeting.ranks[static_cast<size_t>(transport.rank())];
  const char* temporary = std::getenv("TMPDIR");
  RankServiceOptions options;
  options.links = link_survey(meeting, transport, settings);
  options.host = own.host;
  options.ranks_return = settings.restart_ranks;
  options.incarnation = own.incarnation;
  options.first_query = meeting.first_query;
  options.report_folder = temporary == nullptr || *temporary == '\0' ? "/tmp" : temporary;
  return options;
}

// Everything behind `--`.
std::pair<int, char**> split_at_dashes(int& argc, char** argv) {
  for (int i = 0; i < argc; ++i) {
    if (std::string_view(argv[i]) != "--") continue;
    std::pair<int, char**> rest{argc - i - 1, argv + i + 1};
    argc = i;
    return rest;
  }
  return {0, nullptr};
}

}  // namespace

int run_cluster_command(int argc, char** argv, Settings settings, InterruptWatcher& interrupts) {
  std::vector<std::string> own_words = {"pistachio", "cluster"};
  auto [query_argc, query_argv] = split_at_dashes(argc, argv);
  for (int i = 0; i < argc; ++i) own_words.emplace_back(argv[i]);
  CommandArguments arguments(argc, argv, {{"-n", true}, {"--hosts", true}, {"--topology", false}, {kParentOption, true}}, settings);
  if (arguments.has(kParentOption)) end_with_parent(static_cast<pid_t>(arguments.count(kParentOption, 1)));
  if (!arguments.positional().empty())
    throw UsageError(fmt::format("put '--' before what the first rank is to run: there is no option '{}'", arguments.positional()[0]));
  QueryArguments query = parse_query_arguments(query_argc, query_argv, settings);

  std::optional<JobIdentity> identity = job_identity([](const char* name) { return std::getenv(name); });
  bool is_local = !identity;
  if (is_local) {
    identity = local_identity(arguments);
  } else if (arguments.has("-n") && arguments.count("-n", 1) != identity->ranks) {
    throw UsageError(fmt::format("-n {} contradicts the job that this process is part of, which has {} ranks", arguments.count("-n", 1),
                                 identity->ranks));
  }

  std::optional<RankProcesses> processes;
  RendezvousOptions options;
  options.version = PISTACHIO_VERSION;
  options.settings = settings_that_must_agree(settings);
  options.host = host_played(arguments, *identity);
  options.may_return = settings.restart_ranks;
  options.while_waiting = [&] {
    interrupts.token().throw_if_cancelled();
    if (processes) processes->require_all();
  };
  Rendezvous rendezvous(*identity, options);
  if (is_local) {
    own_words.insert(own_words.end(), {kParentOption, std::to_string(::getpid())});
    // They take the same settings, so what stands behind `--` goes along.
    own_words.emplace_back("--");
    for (int i = 0; i < query_argc; ++i) own_words.emplace_back(query_argv[i]);
    processes.emplace(identity->ranks, rendezvous.port(), std::move(own_words));
  }
  UcxOptions network;
  network.rank = identity->rank;
  network.ranks = identity->ranks;
  network.peer_timeout = std::chrono::milliseconds(settings.peer_timeout);
  network.link_bandwidth_limit = settings.link_bandwidth_limit;
  network.checksum = settings.network_checksum;
  UcxTransport transport(network);
  Meeting meeting = rendezvous.meet(transport.address());
  if (processes) processes->have_met();
  MachineShare share = share_of_machine(meeting.ranks, identity->rank);
  bool only_topology = arguments.has("--topology");
  if (only_topology && identity->rank == 0) {
    transport.connect(meeting.ranks, meeting.secret);
    print_topology(meeting, settings, transport);
    return 0;
  }
  share_machine(settings, share);
  EngineInstance engine(settings, share.is_exclusive && share.ranks > 1 ? share.cores : CoreSet());
  transport.connect(meeting.ranks, meeting.secret, meeting.lost);
  RankService ranks(engine, transport, service_options(meeting, transport, engine.settings()));
  if (identity->rank != 0) {
    try {
      ranks.wait(interrupts.token());
    } catch (const Cancelled&) {
      // Asked to end: the first rank says so, where its user looks.
      return kInterruptedExitCode;
    }
    return 0;
  }
  std::optional<RankKeeper> keeper;
  if (processes || settings.restart_ranks) {
    RankKeeper::Options keeping{.restarts = settings.restart_ranks};
    keeper.emplace(ranks, rendezvous, processes ? &*processes : nullptr, meeting.ranks, keeping);
  }
  return run_queries(query, engine, &ranks, interrupts);
}

}  // namespace pistachio
