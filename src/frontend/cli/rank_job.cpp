#include "frontend/cli/rank_job.h"

#include <c10/util/Logging.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "engine/engine_instance.h"
#include "frontend/cli/standard_output.h"
#include "memory/pooled_allocator.h"

namespace pistachio {

namespace {

constexpr int kLogOnlyErrors = 2;  // c10 log level

// Plans and rows must have the same meaning on all ranks.
std::vector<std::pair<std::string, std::string>> settings_that_must_agree(const Settings& settings) {
  return {{"composite_kernels", show_setting(settings, "composite_kernels")}, {"device", show_setting(settings, "device")}};
}

// Ranks share the machine's cores and memory, whatever a launcher says about threads.
void share_machine(Settings& settings, const MachineShare& share) {
  if (settings.threads == 0) settings.threads = share.threads();
  if (settings.memory_limit == 0) {
    complete_settings(settings);
    settings.memory_limit /= share.ranks;
    settings.metadata_cache_bytes = 0;
  }
  if (settings.device_memory_limit == 0) settings.device_memory_limit = default_device_memory(choose_device(settings.device)) / share.ranks;
}

// Connections and shared memory take descriptors, and the libraries below abort the process if there are none.
void require_descriptors(int ranks) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  rlim_t needed = 64 + 8 * static_cast<rlim_t>(ranks);
  if (limit.rlim_cur < needed && limit.rlim_max > limit.rlim_cur) {
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  if (limit.rlim_cur < needed) {
    throw UserError(fmt::format("a rank of {} needs {} open files at least, and the limit is {}: raise it (ulimit -n {})", ranks, needed,
                                limit.rlim_cur, std::max<rlim_t>(needed, 1024)));
  }
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

// Ranks of this job on this machine according to the launcher; 0 if unknown.
int local_ranks(const JobIdentity& identity, bool is_local) {
  if (is_local) return identity.ranks;
  for (const char* name : {"LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "SLURM_NTASKS_PER_NODE"}) {
    const char* text = std::getenv(name);
    int count = text == nullptr ? 0 : std::atoi(text);
    if (count > identity.local_rank && count <= identity.ranks) return count;
  }
  return 0;
}

// The process that starts the ranks passes the secret on; a single rank needs no one else to know it.
JobSecret secret_of_job(const JobIdentity& identity, bool is_local) {
  if (is_local || identity.ranks == 1) return JobSecret::random();
  return JobSecret::from_environment([](const char* name) -> const char* { return std::getenv(name); });
}

}  // namespace

JobIdentity identity_of_local_job(int ranks) {
  JobIdentity identity;
  identity.ranks = ranks;
  identity.master_port = 0;
  return identity;
}

RankJob::RankJob(Options options, const Settings& settings, InterruptWatcher& interrupts)
    : identity_(options.identity),
      topology_(read_topology()),
      places_(place_ranks(topology_, local_ranks(identity_, !options.others.empty()))) {
  require_descriptors(identity_.ranks);
  process_allocator();  // before the first message, which is allocated from it
  // torchrun's store warns about every host without a DNS name, which ranks do not need; its errors are exceptions.
  FLAGS_caffe2_log_level = std::max(FLAGS_caffe2_log_level, kLogOnlyErrors);
  RendezvousOptions meeting;
  meeting.secret = secret_of_job(identity_, !options.others.empty());
  meeting.version = PISTACHIO_VERSION;
  meeting.settings = settings_that_must_agree(settings);
  meeting.host = options.host;
  meeting.may_return = settings.restart_ranks;
  meeting.while_waiting = [&] {
    interrupts.token().throw_if_cancelled();
    if (processes_) processes_->require_all();
  };
  meeting.notice = [&](const std::string& text) { print_to_standard_error("rank {} is {}\n", identity_.rank, text); };
  rendezvous_ = std::make_unique<Rendezvous>(identity_, meeting);
  if (!options.others.empty()) {
    std::vector<std::string> words = options.others;
    words.insert(words.end(), {kParentOption, std::to_string(::getpid())});
    // They take the same settings, so the words after `--` are passed on.
    words.emplace_back("--");
    words.insert(words.end(), options.query_words.begin(), options.query_words.end());
    processes_.emplace(identity_.ranks, rendezvous_->port(), meeting.secret, std::move(words));
  }
  UcxOptions network;
  network.rank = identity_.rank;
  network.ranks = identity_.ranks;
  network.peer_timeout = std::chrono::milliseconds(settings.peer_timeout);
  network.link_bandwidth_limit = settings.link_bandwidth_limit;
  network.checksum = settings.network_checksum;
  choose_devices(settings, network);
  transport_ = std::make_unique<UcxTransport>(network);
  meeting_ = rendezvous_->meet(transport_->address());
  if (processes_) processes_->note_connected();
}

void RankJob::choose_devices(const Settings& settings, UcxOptions& network) const {
  if (places_.empty()) return;
  const RankPlace& place = places_[static_cast<size_t>(identity_.local_rank)];
  if (place.rdma && std::getenv("UCX_NET_DEVICES") == nullptr)
    network.ucx_settings.emplace_back("NET_DEVICES", topology_.rdma[*place.rdma].name);
  if (place.gpu && settings.device != DeviceChoice::Cpu && std::getenv("CUDA_VISIBLE_DEVICES") == nullptr) {
    // CUDA reads these at its first use, which is later; its default order is not the bus order.
    ::setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
    ::setenv("CUDA_VISIBLE_DEVICES", std::to_string(*place.gpu).c_str(), 1);
  }
}

std::unique_ptr<RankKeeper> RankJob::keep_others(RankService& service, bool restarts) {
  if (!processes_ && !restarts) return nullptr;
  RankKeeper::Options options{.restarts = restarts};
  return std::make_unique<RankKeeper>(service, *rendezvous_, processes_ ? &*processes_ : nullptr, meeting_.ranks, options);
}

RankEngine::RankEngine(RankJob& job, Settings settings) {
  MachineShare share = job.share();
  share_machine(settings, share);
  engine_ = std::make_unique<EngineInstance>(settings, share.is_exclusive && share.ranks > 1 ? share.cores : CoreSet());
  job.connect();
  ranks_ = std::make_unique<RankService>(*engine_, job.transport(), service_options(job.meeting(), job.transport(), engine_->settings()));
  if (job.rank() == 0) keeper_ = job.keep_others(*ranks_, settings.restart_ranks);
}

}  // namespace pistachio
