#include "frontend/cli/rank_job.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace pistachio {

namespace {

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

LinkSurveyOptions link_survey(const Meeting& meeting, UcxTransport& transport, const Settings& settings) {
  LinkSurveyOptions options;
  for (const RankInfo& rank : meeting.ranks) options.hosts.push_back(rank.host_index);
  options.route = [&transport](int rank) { return transport.route(rank); };
  options.largest_message = std::min(options.largest_message, settings.memory_limit / 16);
  return options;
}

}  // namespace

JobIdentity identity_of_local_job(int ranks) {
  JobIdentity identity;
  identity.ranks = ranks;
  identity.master_port = 0;
  return identity;
}

RankJob::RankJob(Options options, const Settings& settings, InterruptWatcher& interrupts) : identity_(options.identity) {
  RendezvousOptions meeting;
  meeting.version = PISTACHIO_VERSION;
  meeting.settings = settings_that_must_agree(settings);
  meeting.host = options.host;
  meeting.while_waiting = [&] {
    interrupts.token().throw_if_cancelled();
    if (processes_) processes_->require_all();
  };
  rendezvous_ = std::make_unique<Rendezvous>(identity_, meeting);
  if (!options.others.empty()) {
    std::vector<std::string> words = options.others;
    words.insert(words.end(), {kParentOption, std::to_string(::getpid())});
    // They take the same settings, so what stands behind `--` goes along.
    words.emplace_back("--");
    words.insert(words.end(), options.query_words.begin(), options.query_words.end());
    processes_.emplace(identity_.ranks, rendezvous_->port(), std::move(words));
  }
  UcxOptions network;
  network.rank = identity_.rank;
  network.ranks = identity_.ranks;
  network.peer_timeout = std::chrono::milliseconds(settings.peer_timeout);
  network.link_bandwidth_limit = settings.link_bandwidth_limit;
  network.checksum = settings.network_checksum;
  transport_ = std::make_unique<UcxTransport>(network);
  meeting_ = rendezvous_->meet(transport_->address());
  if (processes_) processes_->have_met();
}

std::unique_ptr<RankProcesses::Watch> RankJob::watch_others(std::function<void(int rank, const std::string& why)> on_end) {
  if (!processes_) return nullptr;
  auto tell = [this, on_end = std::move(on_end)](int rank, const std::string& how) {
    on_end(rank, fmt::format("{} {}", meeting_.ranks[static_cast<size_t>(rank)].to_string(), how));
  };
  return std::make_unique<RankProcesses::Watch>(*processes_, std::move(tell));
}

RankEngine::RankEngine(RankJob& job, Settings settings) {
  MachineShare share = job.share();
  share_machine(settings, share);
  engine_ = std::make_unique<EngineInstance>(settings, share.is_exclusive && share.ranks > 1 ? share.cores : CoreSet());
  job.connect();
  ranks_ = std::make_unique<RankService>(*engine_, job.transport(), link_survey(job.meeting(), job.transport(), engine_->settings()));
  if (job.rank() == 0) watch_ = job.watch_others([this](int rank, const std::string& why) { ranks_->lose(rank, why); });
}

}  // namespace pistachio
