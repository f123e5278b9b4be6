// Every setting of the engine, described once. `Settings` is a plain value, copied into each session, never global. Names, types, ranges
// and doc lines are in the table of settings.cpp; SHOW, `-s name=value`, PISTACHIO_NAME and the documentation are derived from it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pistachio {

enum class ReaderMode { Blocking, Chunked };
enum class ProgressMode { Auto, On, Off };
enum class DeviceChoice { Cpu, Cuda, Auto };
enum class ThreadBinding { Auto, Off };
// Schedules of distributed joins, in the published order.
enum class JoinSchedule {
  Blocking,  // partition, send, build, partition, send, probe: one after the other, all rows of a step in one message
  Tuned,     // the same with well-sized messages
  Chunked,   // rows flow chunk by chunk, but the probe side only after the build side is complete
  Deferred,  // everything overlaps
};

enum class JoinDistribution { Auto, Repartition, Broadcast };

// How ranks cooperate in ORDER BY.
enum class SortDistribution {
  Auto,
  Gather,  // rank 0 sorts all rows
  Merge,   // every rank sorts its own rows, rank 0 merges
  Range,   // every rank sorts one range, rank 0 concatenates them
};

// Where the rows of a group meet in GROUP BY and DISTINCT.
enum class GroupDistribution {
  Auto,
  Gather,       // all groups on rank 0
  Repartition,  // groups are spread over the ranks by hash
};

// Whether ranks pre-aggregate their own rows before rows are exchanged.
enum class PartialAggregation { Auto, On, Off };

// Whether partial results of groups are merged on the sending host.
enum class OnPathMode { Off, On, Auto };

// How the bytes of local files reach a GPU.
enum class GpuReads {
  Auto,        // registered once a file is hot, staged before
  Staged,      // read into pinned memory, then copied
  Registered,  // copied from the page cache, which is registered with the GPU
};

// When operators write retained rows to disk.
enum class SpillMode {
  Auto,    // when memory runs short
  Off,     // never: a query that needs more memory fails
  Always,  // even if rows fit into memory, for tests
};

enum class NetworkCompression { Auto, On, Off };

struct Settings {
  int64_t threads = 0;       // 0: one per core
  int64_t memory_limit = 0;  // 0: three quarters of the machine's memory
  SpillMode spill = SpillMode::Auto;
  std::string temp_directory = "/var/tmp";
  int64_t max_temp_size = 0;  // bytes; 0: no limit
  int64_t chunk_rows = 131072;
  int64_t group_table_limit = 32768;  // such a table fits into the L2 cache
  int64_t io_threads = 8;
  ReaderMode reader = ReaderMode::Chunked;
  bool metadata_cache = true;
  int64_t metadata_cache_bytes = 0;  // 0: a quarter of memory_limit, at most 256 MiB
  bool overlap = true;
  int64_t storage_bandwidth_limit = 0;  // bytes per second; 0: none
  bool direct_io = false;
  bool verify_checksums = true;
  bool composite_kernels = false;
  bool count_device_waits = false;
  ThreadBinding bind_threads = ThreadBinding::Auto;
  DeviceChoice device = DeviceChoice::Cpu;
  int64_t device_lanes = 1;
  int64_t device_scan_lanes = 3;
  int64_t device_chunk_bytes = 512 << 20;
  int64_t device_memory_limit = 0;  // 0: nine tenths of what is free on the GPU, divided by the ranks of this machine
  bool device_decompression = true;
  bool pinned_memory = true;  // reads for a GPU are staged in pinned memory
  GpuReads gpu_reads = GpuReads::Auto;
  int64_t gpu_registered_bytes = 0;  // 0: a third of memory_limit
  bool late_materialization = true;
  std::vector<std::string> disabled_rules;  // of the optimizer, by name
  ProgressMode progress = ProgressMode::Auto;
  bool timer = false;
  bool continue_on_error = false;
  bool spread_tables = false;      // distribute in-memory tables over the ranks, too
  int64_t queue_limit = 32 << 20;  // bytes of receive buffer per rank and exchange
  bool dynamic_buffering = true;
  bool reader_combining = true;
  JoinDistribution join_distribution = JoinDistribution::Auto;
  JoinSchedule join_schedule = JoinSchedule::Deferred;
  SortDistribution sort_distribution = SortDistribution::Auto;
  GroupDistribution group_distribution = GroupDistribution::Auto;
  PartialAggregation partial_aggregation = PartialAggregation::Auto;
  OnPathMode on_path = OnPathMode::Off;
  bool on_path_arrival = false;            // partial results are merged by the ranks of the receiving host
  int64_t on_path_flush_time = 100;        // milliseconds without new rows
  int64_t on_path_helpers = 0;             // ranks of a host that merge; 0: all of them
  int64_t on_path_table_bytes = 32 << 20;  // per lane
  int64_t rows_before_help = 1 << 20;  // sent by a rank; exec/adaptive/bucket_help.h
  bool spread_keys = true;   // spread frequent keys of distributed joins over all ranks
  bool join_filters = true;  // filter probe-side scans by the keys of build sides
  bool top_filters = true;   // filter scans below ORDER BY with LIMIT by the rows found so far
  bool scan_help = true;     // idle ranks take over row groups of others
  bool local_files = false;  // every rank has its own files
  int64_t message_bytes = 0;  // 0: chosen from the measured links
  bool calibrate_links = true;
  int64_t link_bandwidth_limit = 0;  // bytes per second; 0: none
  bool network_checksum = false;
  NetworkCompression network_compression = NetworkCompression::Auto;
  int64_t peer_timeout = 5000;  // milliseconds
  bool restart_ranks = false;   // the launcher restarts lost ranks
  bool retry_queries = true;    // retry a query that failed because a rank was lost, once the rank is back
  bool allow_faults = false;    // for tests: fault_at may be set
  std::string trace;            // file for the trace of each query; empty: none
  std::string fault_at;         // fault injection: where and how a rank fails
  int64_t query_timeout = 0;    // milliseconds; 0: no limit
};

struct SettingDescription {
  std::string_view name;
  std::string_view type;  // syntax of its values: integer, size, time, boolean, names, or the choices
  std::string_view documentation;
  void (*assign)(Settings&, std::string_view name, std::string_view text);
  std::string (*show)(const Settings&);
};

// All settings, in alphabetical order.
const std::vector<SettingDescription>& setting_descriptions();

// Sets one setting from text. Throws UserError that names the setting and its valid values or, for an unknown name, similar ones.
void assign_setting(Settings& settings, std::string_view name, std::string_view text);
std::string show_setting(const Settings& settings, std::string_view name);

// Applies PISTACHIO_NAME variables of the environment; called once at startup by the front end. Returns a message for each variable that
// names no setting. These are not errors: other programs, and other versions of this one, may use such variables.
std::vector<std::string> assign_settings_from_environment(Settings& settings, char** environment);

// Fills in settings whose default depends on the machine (threads, memory_limit, and those derived from it).
void complete_settings(Settings& settings);

// "64MB", "1.5GB", "4096", "1GiB": units are powers of 1000, or of 1024 with an i. Throws UserError.
int64_t parse_byte_size(std::string_view text);

// "500ms", "30s", "1.5min", "2h" in milliseconds; "off" and "0" are 0. Throws UserError.
int64_t parse_milliseconds(std::string_view text);

}  // namespace pistachio
