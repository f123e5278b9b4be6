#include "frontend/cli/bench_scan_command.h"

#include <fmt/format.h>

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <exception>
#include <nlohmann/json.hpp>

#include "base/format_bytes.h"
#include "base/run_blocking.h"
#include "engine/summary_scan.h"
#include "frontend/bench/rank_figures.h"
#include "frontend/bench/sample_file.h"
#include "frontend/cli/bench_output.h"
#include "frontend/cli/command_arguments.h"
#include "frontend/cli/display_text.h"
#include "frontend/cli/live_table.h"
#include "frontend/cli/standard_output.h"
#include "storage/file_discovery.h"

namespace pistachio {

namespace {

using Json = nlohmann::ordered_json;

// Cumulative, in the published order. Pinned memory and removing hidden synchronization only concern the GPU reader.
struct Variant {
  std::string_view name;
  void (*apply)(Settings& settings);
};

constexpr Variant kVariants[] = {
    {"blocking",
     [](Settings& settings) {
       settings.reader = ReaderMode::Blocking;
       settings.metadata_cache = false;
       settings.overlap = false;
     }},
    {"chunked",
     [](Settings& settings) {
       settings.metadata_cache = false;
       settings.overlap = false;
     }},
    {"chunked + metadata cache", [](Settings& settings) { settings.overlap = false; }},
    {"chunked + metadata cache + overlap", [](Settings&) {}},
};

struct Case {
  const Variant* variant;
  EngineInstance* engine;
  Settings settings;
  std::vector<double> seconds;
  int64_t bytes_read = 0;
  bool is_printed = false;
};

// Reads the files and discards the data: the bandwidth of storage without a limit, in bytes per second.
double measure_storage(EngineInstance& engine, const std::vector<std::string>& paths, const CancelToken& token) {
  EngineInstance::QueryScope query(engine, engine.settings(), EngineInstance::QueryScope::Use::ScanOnly);
  double best = 0;
  for (int round = 0; round < 3; ++round) {
    auto begin = std::chrono::steady_clock::now();
    int64_t bytes = 0;
    for (const std::string& path : paths) {
      for (const FoundFile& found : find_files(query.storage().object_stores, path)) {
        if (is_object_address(found.path)) throw UserError("bench scan takes local files");
        std::shared_ptr<DataFile> file = open_local_file(found.path, engine.settings().direct_io);
        constexpr int64_t kPiece = 4 << 20;
        for (int64_t offset = 0; offset < file->size(); offset += kPiece) {
          ByteRange piece{offset, std::min(kPiece, file->size() - offset)};
          engine.scheduler().run(query.storage().read_pool.read_range(file, piece), token);
          bytes += piece.length;
        }
      }
    }
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    best = std::max(best, static_cast<double>(bytes) / seconds);
  }
  return best;
}

std::vector<int64_t> thread_counts(const CommandArguments& arguments) {
  std::vector<int64_t> counts;
  for (const std::string& word : split_list(arguments.value("--threads").value_or("1,2,4,8"))) {
    int64_t count = 0;
    auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), count);
    if (status != std::errc() || end != word.data() + word.size() || count < 1 || count > 1024)
      throw UsageError(fmt::format("--threads takes numbers such as 1,2,4, not '{}'", word));
    counts.push_back(count);
  }
  if (counts.empty()) throw UsageError("--threads needs a number");
  return counts;
}

// Input files if none are given: four, deleted at the end.
class GeneratedFiles {
 public:
  explicit GeneratedFiles(int64_t rows) {
    const char* root = std::getenv("TMPDIR");
    folder_ = std::string(root != nullptr ? root : "/tmp") + "/pistachio_bench_XXXXXX";
    if (::mkdtemp(folder_.data()) == nullptr) throw UserError(fmt::format("cannot create a folder for generated files at {}", folder_));
    constexpr int64_t kFiles = 4;
    for (int64_t i = 0; i < kFiles; ++i) {
      files_.push_back(fmt::format("{}/sales_{}.parquet", folder_, i));
      write_sample_file(files_.back(), {rows * (i + 1) / kFiles - rows * i / kFiles, 262'144});
    }
  }
  ~GeneratedFiles() {
    for (const std::string& file : files_) ::unlink(file.c_str());
    ::rmdir(folder_.c_str());
  }
  GeneratedFiles(const GeneratedFiles&) = delete;
  GeneratedFiles& operator=(const GeneratedFiles&) = delete;

  const std::vector<std::string>& paths() const { return files_; }

 private:
  std::string folder_;
  std::vector<std::string> files_;
};

LiveTable scan_table(double bandwidth, bool limited) {
  size_t longest = 0;
  for (const Variant& variant : kVariants) longest = std::max(longest, variant.name.size());
  std::string introduction =
      fmt::format("storage: {:.2f} GB/s ({})\n\n", bandwidth / 1e9, limited ? "the limit that was set" : "measured, reading only");
  const size_t milliseconds = display_width("10000.0 ms");
  return LiveTable({{"variant", longest, TextTable::Align::Left},
                    {"threads"},
                    {"T", milliseconds},
                    {"T_min", milliseconds},
                    {"T/T_min"},
                    {"read", display_width("10.00 GB/s")}},
                   introduction);
}

// Relative to the shortest time, in seconds, that storage needs.
void print_case(LiveTable& table, Case& own, double least) {
  double seconds = median(own.seconds);
  table.print({std::string(own.variant->name), fmt::format("{}", own.settings.threads), fmt::format("{:.1f} ms", seconds * 1e3),
               fmt::format("{:.1f} ms", least * 1e3), fmt::format("{:.2f}", seconds / least),
               fmt::format("{:.2f} GB/s", static_cast<double>(own.bytes_read) / seconds / 1e9)});
  own.is_printed = true;
}

Json json_of_case(const Case& own, double least) {
  double seconds = median(own.seconds);
  return {{"variant", own.variant->name}, {"threads", own.settings.threads},  {"t", seconds},
          {"t_min", least},               {"ratio", seconds / least}, {"bytes_read", own.bytes_read}};
}

int run_bench_scan(const CommandArguments& arguments, const Settings& base, const CancelToken& token) {
  std::vector<std::string> paths = arguments.positional();
  BenchOutput output(arguments);
  std::optional<GeneratedFiles> generated;
  if (paths.empty()) {
    int64_t rows = arguments.count("--rows", 4'000'000);
    print_to_standard_error("no path given: making {} rows of sample data\n", rows);
    paths = generated.emplace(rows).paths();
  } else if (arguments.value("--rows")) {
    throw UsageError("--rows is the size of generated sample data and cannot be combined with a path");
  }
  SummaryRequest request;
  request.paths = paths;
  request.scan.columns = split_list(arguments.value("--columns").value_or(""));
  for (const std::string& filter : arguments.values("--where")) request.scan.filters.push_back(parse_range_filter(filter));
  int64_t repeat = arguments.count("--repeat", 3);

  std::vector<std::unique_ptr<EngineInstance>> engines;
  std::vector<Case> cases;
  for (int64_t threads : thread_counts(arguments)) {
    Settings settings = base;
    settings.threads = threads;
    engines.push_back(std::make_unique<EngineInstance>(settings));
    for (const Variant& variant : kVariants) {
      Settings own = engines.back()->settings();
      variant.apply(own);
      // The blocking reader is single-threaded.
      if (own.reader == ReaderMode::Blocking && threads != 1) continue;
      cases.push_back({&variant, engines.back().get(), own, {}, 0, false});
    }
  }
  bool limited = base.storage_bandwidth_limit > 0;
  double bandwidth = limited ? static_cast<double>(base.storage_bandwidth_limit) : measure_storage(*engines.back(), paths, token);
  LiveTable table = scan_table(bandwidth, limited);
  // T_min counts the bytes that the best variant read in the warm-up round: reading footers again is the loss of the other variants.
  auto least = [&] { return static_cast<double>(cases.back().bytes_read) / bandwidth; };
  std::exception_ptr interruption;
  try {
    for (int64_t round = -1; round < repeat; ++round) {  // the first round warms up
      for (Case& own : cases) {
        SummaryResult result = run_summary_scan(*own.engine, own.settings, request, token);
        if (round >= 0) own.seconds.push_back(result.seconds);
        own.bytes_read = result.bytes_read;
        if (round + 1 == repeat) print_case(table, own, least());
      }
    }
  } catch (const Cancelled&) {
    interruption = std::current_exception();
  }
  Json json = {
      {"storage_bandwidth", bandwidth}, {"limited", limited}, {"interrupted", interruption != nullptr}, {"cases", Json::array()}};
  for (Case& own : cases) {
    if (own.seconds.empty()) continue;
    if (!own.is_printed) print_case(table, own, least());
    json["cases"].push_back(json_of_case(own, least()));
  }
  if (!json["cases"].empty()) output.write(json, "");
  if (interruption) std::rethrow_exception(interruption);
  return 0;
}

}  // namespace

int run_bench_scan_command(int argc, char** argv, Settings settings, InterruptWatcher& interrupts) {
  CommandArguments arguments(
      argc, argv, {{"--columns", true}, {"--where", true}, {"--threads", true}, {"--repeat", true}, {"--json", true}, {"--rows", true}},
      settings);
  return run_bench_scan(arguments, settings, interrupts.token());
}

}  // namespace pistachio
