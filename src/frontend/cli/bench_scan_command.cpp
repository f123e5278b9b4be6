#include "frontend/cli/bench_scan_command.h"

#include <fmt/format.h>

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <exception>
#include <nlohmann/json.hpp>
#include <span>

#include "base/format_bytes.h"
#include "base/run_blocking.h"
#include "engine/decode_scan.h"
#include "engine/summary_scan.h"
#include "frontend/bench/rank_figures.h"
#include "frontend/bench/sample_file.h"
#include "frontend/cli/bench_output.h"
#include "frontend/cli/command_arguments.h"
#include "frontend/cli/copy_rates.h"
#include "frontend/cli/display_text.h"
#include "frontend/cli/live_table.h"
#include "frontend/cli/standard_output.h"
#include "storage/file_discovery.h"

namespace pistachio {

namespace {

using Json = nlohmann::ordered_json;

// Cumulative, in the published order.
struct Variant {
  std::string_view name;
  void (*apply)(Settings& settings);
};

constexpr Variant kHostVariants[] = {
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

// On a GPU reads are first staged in ordinary memory, then in pinned memory. Overlap is the removal of hidden synchronization: until then
// every lane waits for the GPU after each copy and each row group. The last step, registered reads, is not among the published ones.
constexpr Variant kDeviceVariants[] = {
    {"blocking",
     [](Settings& settings) {
       settings.reader = ReaderMode::Blocking;
       settings.metadata_cache = false;
       settings.pinned_memory = false;
       settings.overlap = false;
       settings.gpu_reads = GpuReads::Staged;
     }},
    {"chunked",
     [](Settings& settings) {
       settings.metadata_cache = false;
       settings.pinned_memory = false;
       settings.overlap = false;
       settings.gpu_reads = GpuReads::Staged;
     }},
    {"chunked + metadata cache",
     [](Settings& settings) {
       settings.pinned_memory = false;
       settings.overlap = false;
       settings.gpu_reads = GpuReads::Staged;
     }},
    {"chunked + metadata cache + pinned",
     [](Settings& settings) {
       settings.overlap = false;
       settings.gpu_reads = GpuReads::Staged;
     }},
    {"chunked + metadata cache + pinned + overlap", [](Settings& settings) { settings.gpu_reads = GpuReads::Staged; }},
    {"chunked + metadata cache + overlap + registered", [](Settings& settings) { settings.gpu_reads = GpuReads::Registered; }},
};

struct ScanRun {
  double seconds = 0;
  int64_t bytes_read = 0;
};

// What is compared on a device.
struct Ladder {
  std::span<const Variant> variants;
  ScanRun (*run)(EngineInstance& engine, const Settings& settings, const SummaryRequest& request, const CancelToken& token);
};

ScanRun summarize_on_host(EngineInstance& engine, const Settings& settings, const SummaryRequest& request, const CancelToken& token) {
  const SummaryResult result = run_summary_scan(engine, settings, request, token);
  return {result.seconds, result.bytes_read};
}

// Chunks are discarded on the GPU: only the reader is measured.
ScanRun decode_on_device(EngineInstance& engine, const Settings& settings, const SummaryRequest& request, const CancelToken& token) {
  const DecodeScanResult result = run_decode_scan(engine, settings, request, token);
  return {result.seconds, result.bytes_read};
}

constexpr Ladder kHostLadder{kHostVariants, summarize_on_host};
constexpr Ladder kDeviceLadder{kDeviceVariants, decode_on_device};

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

std::vector<int64_t> thread_counts(const CommandArguments& arguments, const Settings& base) {
  if (base.device == DeviceChoice::Cuda && !arguments.value("--threads")) return {base.threads};
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

// The bandwidth behind T_min, in bytes per second.
struct Bound {
  double bandwidth = 0;
  bool is_limit = false;            // storage_bandwidth_limit
  std::optional<CopyRates> copies;  // on a GPU, unless there is a limit
};

Bound measure_bound(EngineInstance& engine, const std::vector<std::string>& paths, const CancelToken& token) {
  const int64_t limit = engine.settings().storage_bandwidth_limit;
  if (limit > 0) return {static_cast<double>(limit), true, std::nullopt};
  if (engine.device().is_cpu()) return {measure_storage(engine, paths, token), false, std::nullopt};
  const CopyRates copies = measure_copy_rates(engine, paths, 3, token);
  return {copies.better(), false, copies};
}

std::string introduction_of(const Bound& bound, int64_t threads) {
  if (bound.copies)
    return fmt::format("{}T_min: {}, the faster way\n\n", copy_rates_text(*bound.copies, threads), bound.copies->better_name());
  const char* origin = bound.is_limit ? "the limit that was set" : "measured, reading only";
  return fmt::format("storage: {:.2f} GB/s ({})\n\n", bound.bandwidth / 1e9, origin);
}

LiveTable scan_table(const Ladder& ladder, const std::string& introduction) {
  size_t longest = 0;
  for (const Variant& variant : ladder.variants) longest = std::max(longest, variant.name.size());
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

// The share of a way's copy rate that the best scan on this way reaches; nullopt if there is none. Only scans that overlap count.
std::optional<double> share_of_copy_rate(const std::vector<Case>& cases, GpuReads way, double copy_rate) {
  std::optional<double> best;
  for (const Case& own : cases) {
    if (own.settings.gpu_reads != way || !own.settings.overlap || own.seconds.empty()) continue;
    best = std::max(best.value_or(0), static_cast<double>(own.bytes_read) / median(own.seconds) / copy_rate);
  }
  return best;
}

// Prints the shares and adds them to the report.
void report_shares(const std::vector<Case>& cases, const CopyRates& copies, Json& json) {
  json["copy_rates"] = json_of_copy_rates(copies);
  json["share_of_copy_rate"] = Json::object();
  std::string text = "\n";
  auto add = [&](std::string_view name, GpuReads way, double copy_rate) {
    const std::optional<double> share = share_of_copy_rate(cases, way, copy_rate);
    if (!share) return;
    json["share_of_copy_rate"][std::string(name)] = *share;
    text += fmt::format("{}: {:.0f} % of the copy rate\n", name, *share * 100);
  };
  add("staged", GpuReads::Staged, copies.staged);
  if (copies.registered) add("registered", GpuReads::Registered, *copies.registered);
  write_result_bytes(stdout, text);
}

std::vector<std::unique_ptr<EngineInstance>> make_engines(const CommandArguments& arguments, const Settings& base) {
  std::vector<std::unique_ptr<EngineInstance>> engines;
  for (int64_t threads : thread_counts(arguments, base)) {
    Settings settings = base;
    settings.threads = threads;
    engines.push_back(std::make_unique<EngineInstance>(settings));
  }
  return engines;
}

SummaryRequest request_of(const CommandArguments& arguments, std::optional<GeneratedFiles>& generated) {
  SummaryRequest request;
  request.paths = arguments.positional();
  if (request.paths.empty()) {
    int64_t rows = arguments.count("--rows", 4'000'000);
    print_to_standard_error("no path given: making {} rows of sample data\n", rows);
    request.paths = generated.emplace(rows).paths();
  } else if (arguments.value("--rows")) {
    throw UsageError("--rows is the size of generated sample data and cannot be combined with a path");
  }
  request.scan.columns = split_list(arguments.value("--columns").value_or(""));
  for (const std::string& filter : arguments.values("--where")) request.scan.filters.push_back(parse_range_filter(filter));
  return request;
}

std::vector<Case> make_cases(const CommandArguments& arguments, const std::vector<std::unique_ptr<EngineInstance>>& engines,
                             const Ladder& ladder, bool can_register) {
  const bool is_on_host = engines[0]->device().is_cpu();
  const size_t steps = ladder.variants.size(), last = static_cast<size_t>(arguments.count("--last", static_cast<int64_t>(steps)));
  std::vector<Case> cases;
  for (const std::unique_ptr<EngineInstance>& engine : engines) {
    for (const Variant& variant : ladder.variants.last(std::min(last, steps))) {
      Settings own = engine->settings();
      variant.apply(own);
      // The blocking reader is single-threaded; on a GPU other threads of the engine have work, too.
      if (is_on_host && own.reader == ReaderMode::Blocking && own.threads != 1) continue;
      if (!is_on_host && own.gpu_reads == GpuReads::Registered && !can_register) continue;
      cases.push_back({&variant, engine.get(), own, {}, 0, false});
    }
  }
  return cases;
}

int run_bench_scan(const CommandArguments& arguments, const Settings& base, const CancelToken& token) {
  BenchOutput output(arguments);
  const std::vector<std::unique_ptr<EngineInstance>> engines = make_engines(arguments, base);
  const Ladder& ladder = engines[0]->device().is_cpu() ? kHostLadder : kDeviceLadder;
  std::optional<GeneratedFiles> generated;
  const SummaryRequest request = request_of(arguments, generated);
  const int64_t repeat = arguments.count("--repeat", 3);

  const Bound bound = measure_bound(*engines.back(), request.paths, token);
  std::vector<Case> cases = make_cases(arguments, engines, ladder, !bound.copies || bound.copies->registered);
  LiveTable table = scan_table(ladder, introduction_of(bound, engines.back()->settings().threads));
  // T_min counts the bytes that the best variant read in the warm-up round: reading footers again is the loss of the other variants.
  auto least = [&] { return static_cast<double>(cases.back().bytes_read) / bound.bandwidth; };
  std::exception_ptr interruption;
  try {
    for (int64_t round = -1; round < repeat; ++round) {  // the first round warms up
      for (Case& own : cases) {
        const ScanRun result = ladder.run(*own.engine, own.settings, request, token);
        if (round >= 0) own.seconds.push_back(result.seconds);
        own.bytes_read = result.bytes_read;
        if (round + 1 == repeat) print_case(table, own, least());
      }
    }
  } catch (const Cancelled&) {
    interruption = std::current_exception();
  }
  Json json = {{"storage_bandwidth", bound.bandwidth},
               {"limited", bound.is_limit},
               {"interrupted", interruption != nullptr},
               {"cases", Json::array()}};
  for (Case& own : cases) {
    if (own.seconds.empty()) continue;
    if (!own.is_printed) print_case(table, own, least());
    json["cases"].push_back(json_of_case(own, least()));
  }
  if (bound.copies) report_shares(cases, *bound.copies, json);
  if (!json["cases"].empty()) output.write(json, "");
  if (interruption) std::rethrow_exception(interruption);
  return 0;
}

}  // namespace

int run_bench_scan_command(int argc, char** argv, Settings settings, InterruptWatcher& interrupts) {
  CommandArguments arguments(argc, argv,
                             {{"--columns", true},
                              {"--where", true},
                              {"--threads", true},
                              {"--repeat", true},
                              {"--last", true},
                              {"--json", true},
                              {"--rows", true}},
                             settings);
  return run_bench_scan(arguments, settings, interrupts.token());
}

}  // namespace pistachio
