// Every setting of the engine, described once. `Settings` is a plain value: copied into each session, read by whoever needs it, never
// global. Names, types, ranges and doc lines are in the table of settings.cpp; SHOW, `-s name=value`, PISTACHIO_NAME and the
// documentation follow from that table.
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
// How the steps of distributed joins follow each other, in the published order.
enum class JoinSchedule {
  Blocking,  // partition, send, build, partition, send, probe: each when the one before has ended, all rows of a step in one message
  Tuned,     // the same with messages of the size that links are fast with
  Chunked,   // rows flow chunk by chunk, but those to be probed only when the build side is there
  Deferred,  // everything that can run runs
};

enum class JoinDistribution { Auto, Repartition, Broadcast };

// How ORDER BY over ranks comes into one order.
enum class SortDistribution {
  Auto,
  Gather,  // the first rank sorts all rows
  Merge,   // every rank sorts its own, the first one merges
  Range,   // every rank sorts the rows of a range, the first one takes them in turn
};

enum class NetworkCompression { Auto, On, Off };

struct Settings {
  int64_t threads = 0;       // 0: one per core
  int64_t memory_limit = 0;  // 0: three quarters of the machine's memory
  int64_t chunk_rows = 131072;
  int64_t io_threads = 8;
  ReaderMode reader = ReaderMode::Chunked;
  bool metadata_cache = true;
  int64_t metadata_cache_bytes = 0;  // 0: a quarter of memory_limit, at most 256 MiB
  bool overlap = true;
  int64_t storage_bandwidth_limit = 0;  // bytes a second; 0: none
  bool direct_io = false;
  bool verify_checksums = true;
  bool composite_kernels = false;
  ThreadBinding bind_threads = ThreadBinding::Auto;
  DeviceChoice device = DeviceChoice::Cpu;
  int64_t device_lanes = 1;
  int64_t device_scan_lanes = 3;
  int64_t device_chunk_bytes = 256 << 20;
  bool late_materialization = true;
  std::vector<std::string> disabled_rules;  // of the optimizer, by name
  ProgressMode progress = ProgressMode::Auto;
  bool timer = false;
  bool continue_on_error = false;
  bool spread_tables = false;      // also tables in memory are spread over the ranks
  int64_t queue_limit = 32 << 20;  // bytes that wait on a rank, for each exchange
  bool dynamic_buffering = true;
  bool reader_combining = true;
  JoinDistribution join_distribution = JoinDistribution::Auto;
  JoinSchedule join_schedule = JoinSchedule::Deferred;
  SortDistribution sort_distribution = SortDistribution::Auto;
  int64_t rows_before_help = 1 << 20;  // that a rank sends; exec/adaptive/bucket_help.h
  bool spread_keys = true;   // frequent keys of a join over ranks are worked on by all of them
  bool join_filters = true;  // what the build sides hold is known to scans of probe sides
  bool scan_help = true;     // a rank that has read its share reads for others
  bool local_files = false;  // every rank has files of its own
  int64_t message_bytes = 0;  // 0: what the links between the ranks need
  bool calibrate_links = true;
  int64_t link_bandwidth_limit = 0;  // bytes a second; 0: none
  bool network_checksum = false;
  NetworkCompression network_compression = NetworkCompression::Auto;
  int64_t peer_timeout = 5000;  // milliseconds
  bool restart_ranks = false;   // the launcher starts a lost rank again
  bool retry_queries = true;    // a query that failed for a lost rank is run again when that rank is back
  bool allow_faults = false;    // for tests: fault_at may be set
  std::string fault_at;         // where a rank fails, and how
  int64_t query_timeout = 0;    // milliseconds a statement may run; 0: no limit
};

struct SettingDescription {
  std::string_view name;
  std::string_view type;  // how a value is written: integer, size, time, boolean, names, or the choices
  std::string_view documentation;
  void (*assign)(Settings&, std::string_view name, std::string_view text);
  std::string (*show)(const Settings&);
};

// All settings, in alphabetical order.
const std::vector<SettingDescription>& setting_descriptions();

// Sets one setting from text. Throws UserError that names the setting, what it takes, and for an unknown name the nearest known ones.
void assign_setting(Settings& settings, std::string_view name, std::string_view text);
std::string show_setting(const Settings& settings, std::string_view name);

// Applies PISTACHIO_NAME of the environment; called once at start by the front end. Returns the variables that name no setting, each with
// what is wrong: other programs, and other versions of this one, may have such variables too.
std::vector<std::string> assign_settings_from_environment(Settings& settings, char** environment);

// Fills the settings whose default depends on the machine (threads, memory_limit, and what follows from it).
void complete_settings(Settings& settings);

// "64MB", "1.5GB", "4096", "1GiB": units are powers of 1000, with an i of 1024. Throws UserError.
int64_t parse_byte_size(std::string_view text);

// "500ms", "30s", "1.5min", "2h" in milliseconds; "off" and "0" are 0. Throws UserError.
int64_t parse_milliseconds(std::string_view text);

}  // namespace pistachio
