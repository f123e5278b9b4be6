#include "frontend/cli/cluster_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <thread>

#include "frontend/cli/command_arguments.h"
#include "frontend/cli/query_command.h"
#include "frontend/cli/rank_processes.h"
#include "network/job_identity.h"
#include "network/rendezvous.h"
#include "network/ucx_transport.h"
#include "session/rank_service.h"

namespace pistachio {

namespace {

// Plans and rows must mean the same on all ranks.
std::vector<std::pair<std::string, std::string>> settings_that_must_agree(const Settings& settings) {
  return {{"composite_kernels", show_setting(settings, "composite_kernels")}, {"device", show_setting(settings, "device")}};
}

int64_t ranks_on_host(const Meeting& meeting, int rank) {
  int host = meeting.ranks[static_cast<size_t>(rank)].host_index;
  return std::count_if(meeting.ranks.begin(), meeting.ranks.end(), [&](const RankInfo& other) { return other.host_index == host; });
}

// The machine's cores and memory are shared by the ranks on it, whatever other launchers say about threads.
void share_machine(Settings& settings, const Meeting& meeting, int rank) {
  int64_t sharing = ranks_on_host(meeting, rank);
  if (settings.threads == 0) settings.threads = std::max<int64_t>(1, static_cast<int64_t>(std::thread::hardware_concurrency()) / sharing);
  if (settings.memory_limit == 0) {
    complete_settings(settings);
    settings.memory_limit /= sharing;
    settings.metadata_cache_bytes = 0;
  }
}

LinkSurveyOptions link_survey(const Meeting& meeting, UcxTransport& transport, const Settings& settings) {
  LinkSurveyOptions options;
  for (const RankInfo& rank : meeting.ranks) options.hosts.push_back(rank.host_index);
  options.route = [&transport](int rank) { return transport.route(rank); };
  options.largest_message = std::min(options.largest_message, settings.memory_limit / 16);
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
  CommandArguments arguments(argc, argv, {{"-n", true}}, settings);
  if (!arguments.positional().empty())
    throw UsageError(fmt::format("put '--' before what the first rank is to run: there is no option '{}'", arguments.positional()[0]));
  QueryArguments query = parse_query_arguments(query_argc, query_argv, settings);

  std::optional<JobIdentity> identity = job_identity([](const char* name) { return std::getenv(name); });
  bool is_local = !identity;
  if (is_local) {
    if (!arguments.has("-n"))
      throw UsageError("-n says how many ranks to start; without it the command joins a job of torchrun, mpirun or srun, and this is none");
    identity.emplace();
    identity->ranks = static_cast<int>(arguments.count("-n", 1));
    identity->master_port = 0;
  } else if (arguments.has("-n") && arguments.count("-n", 1) != identity->ranks) {
    throw UsageError(fmt::format("-n {} contradicts the job that this process is part of, which has {} ranks", arguments.count("-n", 1),
                                 identity->ranks));
  }

  RendezvousOptions options;
  options.version = PISTACHIO_VERSION;
  options.settings = settings_that_must_agree(settings);
  Rendezvous rendezvous(*identity, options);
  std::optional<RankProcesses> processes;
  if (is_local) {
    // They take the same settings, so what stands behind `--` goes along.
    own_words.emplace_back("--");
    for (int i = 0; i < query_argc; ++i) own_words.emplace_back(query_argv[i]);
    processes.emplace(identity->ranks, rendezvous.port(), std::move(own_words),
                      std::vector<std::vector<std::string>>(static_cast<size_t>(identity->ranks)));
  }
  UcxOptions network;
  network.rank = identity->rank;
  network.ranks = identity->ranks;
  network.peer_timeout = std::chrono::milliseconds(settings.peer_timeout);
  network.link_bandwidth_limit = settings.link_bandwidth_limit;
  network.checksum = settings.network_checksum;
  UcxTransport transport(network);
  Meeting meeting = rendezvous.meet(transport.address());
  share_machine(settings, meeting, identity->rank);
  EngineInstance engine(settings);
  transport.connect(meeting.ranks, meeting.secret);
  RankService ranks(engine, transport, link_survey(meeting, transport, engine.settings()));
  if (identity->rank == 0) return run_queries(query, engine, &ranks, interrupts);
  ranks.wait();
  return 0;
}

}  // namespace pistachio
