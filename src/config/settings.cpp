#include "config/settings.h"

#include <fmt/format.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstring>
#include <thread>

#include "base/edit_distance.h"
#include "base/error.h"
#include "base/fault_plan.h"

namespace pistachio {

namespace {

struct TimeUnit {
  std::string_view name;
  int64_t milliseconds;
};

constexpr TimeUnit kTimeUnits[] = {{"h", 3'600'000}, {"min", 60'000}, {"s", 1'000}, {"ms", 1}};

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](unsigned char c) { return std::tolower(c); });
  return result;
}

[[noreturn]] void refuse(std::string_view name, std::string_view text, std::string_view takes) {
  throw UserError(fmt::format("setting {} cannot be '{}': it takes {}", name, text, takes));
}

template <auto Member, int64_t Low, int64_t High>
void assign_integer(Settings& settings, std::string_view name, std::string_view text) {
  int64_t value = 0;
  auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size() || value < Low || value > High) {
    refuse(name, text, fmt::format("an integer from {} to {}", Low, High));
  }
  settings.*Member = value;
}

template <auto Member>
std::string show_integer(const Settings& settings) {
  return fmt::format("{}", settings.*Member);
}

template <auto Member, int64_t Low>
void assign_size(Settings& settings, std::string_view name, std::string_view text) {
  int64_t value = 0;
  try {
    value = parse_byte_size(text);
  } catch (const UserError&) {
    refuse(name, text, "a size such as 64MB, 1.5GB or 4GiB");
  }
  if (value != 0 && value < Low) refuse(name, text, fmt::format("0 (the default) or at least {} bytes", Low));
  settings.*Member = value;
}

template <auto Member>
void assign_boolean(Settings& settings, std::string_view name, std::string_view text) {
  std::string word = lower(text);
  if (word == "on" || word == "true" || word == "1" || word == "yes") {
    settings.*Member = true;
  } else if (word == "off" || word == "false" || word == "0" || word == "no") {
    settings.*Member = false;
  } else {
    refuse(name, text, "on or off");
  }
}

template <auto Member>
std::string show_boolean(const Settings& settings) {
  return settings.*Member ? "on" : "off";
}

// The names of a setting's choices.
template <typename Choice>
struct Word {
  std::string_view text;
  Choice choice;
};

constexpr Word<ReaderMode> kReaders[] = {{"blocking", ReaderMode::Blocking}, {"chunked", ReaderMode::Chunked}};
constexpr Word<DeviceChoice> kDevices[] = {{"cpu", DeviceChoice::Cpu}, {"cuda", DeviceChoice::Cuda}, {"auto", DeviceChoice::Auto}};
constexpr Word<ThreadBinding> kBindings[] = {{"auto", ThreadBinding::Auto}, {"off", ThreadBinding::Off}};
constexpr Word<ProgressMode> kProgressModes[] = {{"auto", ProgressMode::Auto}, {"on", ProgressMode::On}, {"off", ProgressMode::Off}};
constexpr Word<NetworkCompression> kCompressions[] = {
    {"auto", NetworkCompression::Auto}, {"on", NetworkCompression::On}, {"off", NetworkCompression::Off}};
constexpr Word<GpuReads> kGpuReads[] = {
    {"auto", GpuReads::Auto}, {"staged", GpuReads::Staged}, {"registered", GpuReads::Registered}};
constexpr Word<bool> kErrorRules[] = {{"stop", false}, {"continue", true}};
constexpr Word<JoinDistribution> kJoinDistributions[] = {
    {"auto", JoinDistribution::Auto}, {"repartition", JoinDistribution::Repartition}, {"broadcast", JoinDistribution::Broadcast}};
constexpr Word<SortDistribution> kSortDistributions[] = {{"auto", SortDistribution::Auto},
                                                         {"gather", SortDistribution::Gather},
                                                         {"merge", SortDistribution::Merge},
                                                         {"range", SortDistribution::Range}};
constexpr Word<GroupDistribution> kGroupDistributions[] = {
    {"auto", GroupDistribution::Auto}, {"gather", GroupDistribution::Gather}, {"repartition", GroupDistribution::Repartition}};
constexpr Word<PartialAggregation> kPartialAggregations[] = {
    {"auto", PartialAggregation::Auto}, {"on", PartialAggregation::On}, {"off", PartialAggregation::Off}};
constexpr Word<OnPathMode> kOnPathModes[] = {{"off", OnPathMode::Off}, {"on", OnPathMode::On}, {"auto", OnPathMode::Auto}};
constexpr Word<SpillMode> kSpillModes[] = {{"auto", SpillMode::Auto}, {"off", SpillMode::Off}, {"always", SpillMode::Always}};
constexpr Word<JoinSchedule> kJoinSchedules[] = {{"blocking", JoinSchedule::Blocking},
                                                 {"tuned", JoinSchedule::Tuned},
                                                 {"chunked", JoinSchedule::Chunked},
                                                 {"deferred", JoinSchedule::Deferred}};

// `blocking, tuned or chunked`
template <const auto& Words>
std::string list_words() {
  std::string list;
  for (size_t i = 0; i < std::size(Words); ++i) {
    if (i > 0) list += i + 1 == std::size(Words) ? " or " : ", ";
    list += Words[i].text;
  }
  return list;
}

template <auto Member, const auto& Words>
void assign_choice(Settings& settings, std::string_view name, std::string_view text) {
  std::string wanted = lower(text);
  for (const auto& word : Words) {
    if (word.text != wanted) continue;
    settings.*Member = word.choice;
    return;
  }
  refuse(name, text, list_words<Words>());
}

template <auto Member, const auto& Words>
std::string show_choice(const Settings& settings) {
  for (const auto& word : Words) {
    if (settings.*Member == word.choice) return std::string(word.text);
  }
  return "";
}

// Not validated here: the session checks them against the optimizer's table of rules.
void assign_rules(Settings& settings, std::string_view, std::string_view text) {
  settings.disabled_rules.clear();
  while (!text.empty()) {
    size_t comma = std::min(text.find(','), text.size());
    std::string word = lower(text.substr(0, comma));
    std::erase(word, ' ');
    if (!word.empty()) settings.disabled_rules.push_back(word);
    text.remove_prefix(std::min(text.size(), comma + 1));
  }
}

std::string show_rules(const Settings& settings) {
  return fmt::format("{}", fmt::join(settings.disabled_rules, ","));
}

void assign_fault(Settings& settings, std::string_view name, std::string_view text) {
  try {
    FaultPlan::check(text);
  } catch (const UserError& error) {
    throw UserError(fmt::format("{}: {}", name, error.message()));
  }
  settings.fault_at = text;
}

template <auto Member>
void assign_folder(Settings& settings, std::string_view name, std::string_view text) {
  if (text.empty()) refuse(name, text, "a folder");
  settings.*Member = text;
}

template <auto Member>
void assign_text(Settings& settings, std::string_view, std::string_view text) {
  settings.*Member = text;
}

template <auto Member>
std::string show_text(const Settings& settings) {
  return settings.*Member;
}

template <auto Member>
void assign_time(Settings& settings, std::string_view name, std::string_view text) {
  try {
    settings.*Member = parse_milliseconds(text);
  } catch (const UserError&) {
    refuse(name, text, "a time such as 500ms, 30s, 5min or 1h, or off");
  }
}

// Ranks send a heartbeat every half second and check for their peers' heartbeats every quarter second.
void assign_peer_timeout(Settings& settings, std::string_view name, std::string_view text) {
  int64_t time = 0;
  try {
    time = parse_milliseconds(text);
  } catch (const UserError&) {
    // Not a time: rejected below.
  }
  if (time < 1000) refuse(name, text, "a time of at least 1s, such as 5s or 1min");
  settings.peer_timeout = time;
}

// In the largest unit that yields a whole number.
template <auto Member>
std::string show_time(const Settings& settings) {
  int64_t value = settings.*Member;
  if (value == 0) return "off";
  for (const TimeUnit& unit : kTimeUnits) {
    if (value % unit.milliseconds == 0) return fmt::format("{}{}", value / unit.milliseconds, unit.name);
  }
  return fmt::format("{}ms", value);
}

constexpr int64_t kLowestMemoryLimit = 16'000'000;
// One row group of a typical file, with what it takes to decode it.
constexpr int64_t kLowestDeviceMemoryLimit = 256'000'000;

const SettingDescription& find_setting(std::string_view name) {
  std::string wanted = lower(name);
  const SettingDescription* nearest = nullptr;
  size_t nearest_distance = 4;
  for (const SettingDescription& setting : setting_descriptions()) {
    if (setting.name == wanted) return setting;
    if (size_t distance = edit_distance(setting.name, wanted); distance < nearest_distance) {
      nearest = &setting;
      nearest_distance = distance;
    }
  }
  throw UserError(nearest ? fmt::format("there is no setting '{}'; did you mean {}?", name, nearest->name)
                          : fmt::format("there is no setting '{}'; `pistachio settings` lists them", name));
}

}  // namespace

const std::vector<SettingDescription>& setting_descriptions() {
  using S = Settings;
  static const std::vector<SettingDescription> table = {
      {"allow_faults", "boolean", "for tests: whether fault_at may be set; fixed at start", assign_boolean<&S::allow_faults>,
       show_boolean<&S::allow_faults>},
      {"bind_threads", "auto, off", "auto: ranks that share a machine bind their workers to separate cores if there are enough",
       assign_choice<&S::bind_threads, kBindings>, show_choice<&S::bind_threads, kBindings>},
      {"calibrate_links", "boolean", "measure the links between ranks before the first query that moves rows, to choose message_bytes",
       assign_boolean<&S::calibrate_links>, show_boolean<&S::calibrate_links>},
      {"chunk_rows", "integer", "maximum rows per chunk that flows from scans to operators", assign_integer<&S::chunk_rows, 1, 1 << 30>,
       show_integer<&S::chunk_rows>},
      {"composite_kernels", "boolean", "run the slow reference bodies of all kernels (for testing)", assign_boolean<&S::composite_kernels>,
       show_boolean<&S::composite_kernels>},
      {"count_device_waits", "boolean",
       "EXPLAIN ANALYZE shows how often the CPU waited for a GPU and copied pageable memory, per operator and in total; each such call "
       "then takes a microsecond longer",
       assign_boolean<&S::count_device_waits>, show_boolean<&S::count_device_waits>},
      {"device", "cpu, cuda, auto", "where operators run; auto: on a GPU if there is one and the query scans enough",
       assign_choice<&S::device, kDevices>, show_choice<&S::device, kDevices>},
      {"device_chunk_bytes", "size", "approximate bytes per chunk on a GPU: its operators process many row groups together",
       assign_size<&S::device_chunk_bytes, 1>, show_integer<&S::device_chunk_bytes>},
      {"device_decompression", "boolean", "a GPU decompresses Snappy pages itself; otherwise the CPU does, as for the other codecs",
       assign_boolean<&S::device_decompression>, show_boolean<&S::device_decompression>},
      {"device_lanes", "integer", "chunks that operators process concurrently on a GPU", assign_integer<&S::device_lanes, 1, 64>,
       show_integer<&S::device_lanes>},
      {"device_memory_limit", "size",
       "limit of the GPU memory that the engine uses; 0: nine tenths of what is free at the start, shared by the ranks of this machine",
       assign_size<&S::device_memory_limit, kLowestDeviceMemoryLimit>, show_integer<&S::device_memory_limit>},
      {"device_scan_lanes", "integer", "chunks of a scan that are copied to a GPU and decoded there concurrently",
       assign_integer<&S::device_scan_lanes, 1, 64>, show_integer<&S::device_scan_lanes>},
      {"direct_io", "boolean", "read local files with direct I/O, bypassing the page cache", assign_boolean<&S::direct_io>,
       show_boolean<&S::direct_io>},
      {"disabled_rules", "names", "optimizer rules to disable, separated by commas; all: every optional one", assign_rules, show_rules},
      {"dynamic_buffering", "boolean", "buffer rows for another rank until they fill a message", assign_boolean<&S::dynamic_buffering>,
       show_boolean<&S::dynamic_buffering>},
      {"fault_at", "text",
       "for tests: where and how a rank fails in a query, as POINT[:RANK][:NTH]=ACTION, such as scan_chunk:1:3=kill; the error for a wrong "
       "word lists all of them",
       assign_fault, show_text<&S::fault_at>},
      {"gpu_reads", "auto, staged, registered",
       "how local files reach a GPU: read into pinned memory first, or copied from the page cache, which is registered with the GPU "
       "for it; "
       "auto: registered once a file has been read from the page cache",
       assign_choice<&S::gpu_reads, kGpuReads>, show_choice<&S::gpu_reads, kGpuReads>},
      {"gpu_registered_bytes", "size", "bytes of the page cache kept registered with a GPU; 0: a third of memory_limit",
       assign_size<&S::gpu_registered_bytes, 1>, show_integer<&S::gpu_registered_bytes>},
      {"group_distribution", "auto, gather, repartition",
       "where the groups of GROUP BY and DISTINCT meet: all on rank 0, or spread over the ranks by hash; auto: on rank 0 if they are few",
       assign_choice<&S::group_distribution, kGroupDistributions>, show_choice<&S::group_distribution, kGroupDistributions>},
      {"group_table_limit", "integer",
       "groups per thread that GROUP BY looks up in one table; beyond that, groups or rows go to radix partitions, which are grouped one "
       "by one",
       assign_integer<&S::group_table_limit, 1, 1 << 30>, show_integer<&S::group_table_limit>},
      {"io_threads", "integer", "concurrent reads", assign_integer<&S::io_threads, 1, 1024>, show_integer<&S::io_threads>},
      {"join_distribution", "auto, repartition, broadcast",
       "how a join over ranks is distributed: both sides are repartitioned by their keys, or the build side is broadcast to every "
       "rank; auto: the cheaper by bytes moved and work of the busiest rank",
       assign_choice<&S::join_distribution, kJoinDistributions>, show_choice<&S::join_distribution, kJoinDistributions>},
      {"join_filters", "boolean",
       "scans wait for the build side of a selective join, and read and send only rows that may have a match there",
       assign_boolean<&S::join_filters>, show_boolean<&S::join_filters>},
      {"join_schedule", "blocking, tuned, chunked, deferred",
       "schedule of joins over ranks: blocking and tuned run one step after the other (tuned with well-sized messages), "
       "chunked reads the probe side once the build side is complete, deferred overlaps both",
       assign_choice<&S::join_schedule, kJoinSchedules>, show_choice<&S::join_schedule, kJoinSchedules>},
      {"late_materialization", "boolean", "read and decode filter columns first, other columns only for rows that pass",
       assign_boolean<&S::late_materialization>, show_boolean<&S::late_materialization>},
      {"link_bandwidth_limit", "size",
       "bytes per second that a rank may send to ranks of other hosts, and receive from them, for benchmarks (all other ranks, if there is "
       "only one host); 0: no limit",
       assign_size<&S::link_bandwidth_limit, 1>, show_integer<&S::link_bandwidth_limit>},
      {"local_files", "boolean", "every rank has its own files and reads all of them; {rank} in a path is replaced by the rank's number",
       assign_boolean<&S::local_files>, show_boolean<&S::local_files>},
      {"max_temp_size", "size", "bytes of disk that all queries of the process together may spill to; 0: no limit",
       assign_size<&S::max_temp_size, 1>, show_integer<&S::max_temp_size>},
      {"memory_limit", "size", "memory limit of the engine; 0: three quarters of the machine's memory",
       assign_size<&S::memory_limit, kLowestMemoryLimit>, show_integer<&S::memory_limit>},
      {"message_bytes", "size", "target size of messages between ranks; 0: as large as the links need for full bandwidth",
       assign_size<&S::message_bytes, 1>, show_integer<&S::message_bytes>},
      {"metadata_cache", "boolean", "cache parsed Parquet footers", assign_boolean<&S::metadata_cache>, show_boolean<&S::metadata_cache>},
      {"metadata_cache_bytes", "size", "memory limit of cached footers; 0: a quarter of memory_limit, at most 256 MiB",
       assign_size<&S::metadata_cache_bytes, 1>, show_integer<&S::metadata_cache_bytes>},
      {"network_checksum", "boolean", "verify a checksum of the payload of every message between ranks",
       assign_boolean<&S::network_checksum>, show_boolean<&S::network_checksum>},
      {"network_compression", "auto, on, off", "compress rows sent between ranks; auto: over links slower than the codec, but not within one of several hosts",
       assign_choice<&S::network_compression, kCompressions>, show_choice<&S::network_compression, kCompressions>},
      {"on_error", "stop, continue", "continue: print an error in place of the result and run the next statement",
       assign_choice<&S::continue_on_error, kErrorRules>, show_choice<&S::continue_on_error, kErrorRules>},
      {"on_path", "off, on, auto",
       "merge partial results of GROUP BY and DISTINCT on the sending host before they go to other hosts, each of its ranks for some of "
       "the destinations; auto: while that saves more time on the link than it costs",
       assign_choice<&S::on_path, kOnPathModes>, show_choice<&S::on_path, kOnPathModes>},
      {"on_path_arrival", "boolean",
       "merge partial results of groups that meet on rank 0 on the ranks of its host first; independent of on_path",
       assign_boolean<&S::on_path_arrival>, show_boolean<&S::on_path_arrival>},
      {"on_path_flush_time", "time",
       "on_path tables that got no rows for this long are flushed (later if the link needs longer for their rows); off: only when they are "
       "full and at the end",
       assign_time<&S::on_path_flush_time>, show_time<&S::on_path_flush_time>},
      {"on_path_helpers", "integer",
       "ranks of each host that merge for on_path; 0: all of them share the work by destination, 1: one per host",
       assign_integer<&S::on_path_helpers, 0, 1024>, show_integer<&S::on_path_helpers>},
      {"on_path_table_bytes", "size", "memory of the on_path tables of a lane; rows that do not fit are sent on unmerged",
       assign_size<&S::on_path_table_bytes, 1>, show_integer<&S::on_path_table_bytes>},
      {"overlap", "boolean",
       "read ahead while earlier chunks are decoded, on a GPU without waiting for it in between, and send rows to other ranks while more "
       "are produced",
       assign_boolean<&S::overlap>, show_boolean<&S::overlap>},
      {"partial_aggregation", "auto, on, off",
       "ranks pre-aggregate their own rows before rows are exchanged; auto: if that is expected to save bytes",
       assign_choice<&S::partial_aggregation, kPartialAggregations>, show_choice<&S::partial_aggregation, kPartialAggregations>},
      {"peer_timeout", "time", "how long another rank may be silent before it counts as lost; at least 1s", assign_peer_timeout,
       show_time<&S::peer_timeout>},
      {"pinned_memory", "boolean",
       "stage reads for a GPU in pinned memory, from which it copies eight times as fast as from ordinary memory",
       assign_boolean<&S::pinned_memory>, show_boolean<&S::pinned_memory>},
      {"progress", "auto, on, off", "show a progress line; auto: on a terminal", assign_choice<&S::progress, kProgressModes>,
       show_choice<&S::progress, kProgressModes>},
      {"query_timeout", "time", "time limit of a statement, such as 500ms, 30s or 5min; off: no limit", assign_time<&S::query_timeout>,
       show_time<&S::query_timeout>},
      {"queue_limit", "size", "bytes that a rank buffers per exchange; senders wait when the buffer is full",
       assign_size<&S::queue_limit, 1>, show_integer<&S::queue_limit>},
      {"reader", "blocking, chunked", "blocking reads everything before it decodes; chunked reads and decodes row group by row group",
       assign_choice<&S::reader, kReaders>, show_choice<&S::reader, kReaders>},
      {"reader_combining", "boolean", "all scans of a query over ranks read concurrently; off: scans of build sides first",
       assign_boolean<&S::reader_combining>, show_boolean<&S::reader_combining>},
      {"restart_ranks", "boolean",
       "restart a rank other than the first that dies or goes silent (by `pistachio cluster -n`; ranks of other launchers may "
       "rejoin by themselves); statements wait for it",
       assign_boolean<&S::restart_ranks>, show_boolean<&S::restart_ranks>},
      {"retry_queries", "boolean",
       "retry a query that failed because of a lost rank, once that rank is back, unless rows were already output",
       assign_boolean<&S::retry_queries>, show_boolean<&S::retry_queries>},
      {"rows_before_help", "integer",
       "probe rows that a rank of a join sends before the ranks look for frequent keys again, and again after 4 and 16 times as many; 0: "
       "never",
       assign_integer<&S::rows_before_help, 0, 1 << 30>, show_integer<&S::rows_before_help>},
      {"scan_help", "boolean", "a rank that has read its share of a table takes over row groups that other ranks have not started",
       assign_boolean<&S::scan_help>, show_boolean<&S::scan_help>},
      {"sort_distribution", "auto, gather, merge, range",
       "how ORDER BY runs over ranks: the first rank sorts all rows, or merges rows that every rank has sorted, or every rank "
       "sorts one range; auto: merge, or range if there is much to sort",
       assign_choice<&S::sort_distribution, kSortDistributions>, show_choice<&S::sort_distribution, kSortDistributions>},
      {"spill", "auto, off, always",
       "auto: rows that do not fit into memory_limit are written to temp_directory; off: a query that needs more memory fails; always: "
       "rows are written to disk even if they fit, for tests",
       assign_choice<&S::spill, kSpillModes>, show_choice<&S::spill, kSpillModes>},
      {"spread_keys", "boolean", "rows of a join over ranks that share a frequent key are spread over all ranks",
       assign_boolean<&S::spread_keys>, show_boolean<&S::spread_keys>},
      {"spread_tables", "boolean", "distribute in-memory tables over the ranks too, however small (for tests)",
       assign_boolean<&S::spread_tables>, show_boolean<&S::spread_tables>},
      {"storage_bandwidth_limit", "size", "bytes per second that reads are throttled to, for benchmarks; 0: no limit",
       assign_size<&S::storage_bandwidth_limit, 1>, show_integer<&S::storage_bandwidth_limit>},
      {"temp_directory", "text", "folder for rows that are spilled to disk; must exist", assign_folder<&S::temp_directory>,
       show_text<&S::temp_directory>},
      {"threads", "integer", "worker threads; 0: one per core", assign_integer<&S::threads, 0, 4096>, show_integer<&S::threads>},
      {"top_filters", "boolean", "scans below ORDER BY with LIMIT read only the first sort key of rows that come after those found so far",
       assign_boolean<&S::top_filters>, show_boolean<&S::top_filters>},
      {"timer", "boolean", "print the engine's time for each statement", assign_boolean<&S::timer>, show_boolean<&S::timer>},
      {"trace", "text",
       "file for the trace of each query: what every thread of every rank worked on when, as JSON for ui.perfetto.dev; the next query "
       "replaces it; empty: none",
       assign_text<&S::trace>, show_text<&S::trace>},
      {"verify_checksums", "boolean", "verify the CRC of pages that have one", assign_boolean<&S::verify_checksums>,
       show_boolean<&S::verify_checksums>},
  };
  return table;
}

void assign_setting(Settings& settings, std::string_view name, std::string_view text) {
  const SettingDescription& setting = find_setting(name);
  setting.assign(settings, setting.name, text);
}

std::string show_setting(const Settings& settings, std::string_view name) {
  return find_setting(name).show(settings);
}

std::vector<std::string> assign_settings_from_environment(Settings& settings, char** environment) {
  constexpr std::string_view prefix = "PISTACHIO_";
  std::vector<std::string> unknown;
  for (char** entry = environment; entry != nullptr && *entry != nullptr; ++entry) {
    std::string_view text(*entry);
    size_t equals = text.find('=');
    if (!text.starts_with(prefix) || equals == std::string_view::npos) continue;
    // The job secret is not a setting, since SHOW must not reveal it.
    if (text.starts_with("PISTACHIO_JOB_SECRET")) continue;
    const SettingDescription* setting = nullptr;
    try {
      setting = &find_setting(text.substr(prefix.size(), equals - prefix.size()));
    } catch (const UserError& error) {
      unknown.push_back(fmt::format("{} in the environment: {}", text.substr(0, equals), error.message()));
      continue;
    }
    try {
      setting->assign(settings, setting->name, text.substr(equals + 1));
    } catch (const UserError& error) {
      throw UserError(fmt::format("{} in the environment: {}", text.substr(0, equals), error.message()));
    }
  }
  return unknown;
}

void complete_settings(Settings& settings) {
  if (settings.threads == 0) settings.threads = std::max(1u, std::thread::hardware_concurrency());
  if (settings.memory_limit == 0) {
    struct sysinfo machine {};
    int64_t total = sysinfo(&machine) == 0 ? static_cast<int64_t>(machine.totalram) * machine.mem_unit : int64_t{4} << 30;
    settings.memory_limit = std::max(kLowestMemoryLimit, total / 4 * 3);
  }
  if (settings.gpu_registered_bytes == 0) settings.gpu_registered_bytes = settings.memory_limit / 3;
  if (settings.metadata_cache_bytes == 0) settings.metadata_cache_bytes = std::min<int64_t>(256 << 20, settings.memory_limit / 4);
}

int64_t parse_byte_size(std::string_view text) {
  double number = 0;
  auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string unit = lower(text.substr(static_cast<size_t>(end - text.data())));
  unit.erase(0, unit.find_first_not_of(' '));
  double factor = 0;
  if (unit.empty() || unit == "b") factor = 1;
  const char* prefixes = "kmgt";
  if (const char* prefix = unit.empty() ? nullptr : std::strchr(prefixes, unit[0]); prefix != nullptr && *prefix != 0) {
    double power = static_cast<double>(prefix - prefixes + 1);
    std::string rest = unit.substr(1);
    if (rest.empty() || rest == "b") factor = std::pow(1000.0, power);
    if (rest == "ib") factor = std::pow(1024.0, power);
  }
  if (status != std::errc() || factor == 0 || !(number >= 0) || number * factor > 9e18) {
    throw UserError(fmt::format("'{}' is not a size; write 64MB, 1.5GB or 4GiB", text));
  }
  return static_cast<int64_t>(number * factor);
}

int64_t parse_milliseconds(std::string_view text) {
  std::string word = lower(text);
  if (word == "off" || word == "0") return 0;
  double number = 0;
  auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), number);
  std::string_view name = std::string_view(word).substr(static_cast<size_t>(end - word.data()));
  name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
  const auto* unit = std::find_if(std::begin(kTimeUnits), std::end(kTimeUnits), [&](const TimeUnit& own) { return own.name == name; });
  if (status == std::errc() && unit != std::end(kTimeUnits)) {
    double value = number * static_cast<double>(unit->milliseconds);
    // Upper bound: more than a century may overflow clock arithmetic. Lower bound: 0 has another meaning.
    if (number == 0) return 0;
    if (value >= 1 && value < 4e12) return static_cast<int64_t>(value);
  }
  throw UserError(fmt::format("'{}' is not a duration; write 500ms, 30s, 5min or 1h", text));
}

}  // namespace pistachio
