#include "frontend/cli/bench_all_to_all_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "base/format_bytes.h"
#include "frontend/bench/all_to_all.h"
#include "frontend/bench/perftest.h"
#include "frontend/bench/svg_chart.h"
#include "frontend/cli/bench_arguments.h"
#include "frontend/cli/bench_output.h"
#include "frontend/cli/bench_report.h"
#include "frontend/cli/display_text.h"
#include "frontend/cli/live_table.h"
#include "frontend/cli/standard_output.h"

namespace pistachio {

namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kColumns = 4;
// More messages would not change the result.
constexpr int64_t kMaxMessages = 4096;

// Bytes per second into one rank; nullopt if not measured.
struct SizeFigures {
  int64_t message_bytes = 0;
  std::optional<double> one_link;
  std::optional<double> perftest;
  std::optional<double> all_to_all;
  std::optional<double> partition;
  std::optional<double> join;

  std::optional<double> ratio() const {
    if (!one_link || !perftest) return std::nullopt;
    return *one_link / *perftest;
  }
};

std::vector<int64_t> message_sizes(const CommandArguments& arguments) {
  std::vector<int64_t> sizes;
  for (const std::string& word : split_list(arguments.value("--sizes").value_or("4KiB,16KiB,64KiB,256KiB,1MiB,4MiB,16MiB"))) {
    int64_t bytes = 0;
    try {
      bytes = parse_byte_size(word);
    } catch (const UserError& error) {
      throw UsageError(fmt::format("--sizes: {}", error.message()));
    }
    if (bytes < 1 || bytes > (int64_t{1} << 30)) throw UsageError(fmt::format("--sizes takes sizes up to 1GiB, not '{}'", word));
    sizes.push_back(bytes);
  }
  if (sizes.empty()) throw UsageError("--sizes needs a size such as 64KiB");
  return sizes;
}

int64_t messages_of(int64_t message_bytes, int64_t bytes) {
  return std::clamp<int64_t>(bytes / message_bytes, 2, kMaxMessages);
}

// Runs on the other ranks.
int take_part(const Settings& settings, pid_t parent, InterruptWatcher& interrupts) {
  end_with_parent(parent);
  std::optional<JobIdentity> identity = job_identity([](const char* name) { return std::getenv(name); });
  if (!identity) throw UsageError(fmt::format("{} is for ranks that the benchmark has started", kParentOption));
  RankJob job({.identity = *identity, .host = "", .others = {}, .query_words = {}}, settings, interrupts);
  AllToAll messages(job.transport());
  job.connect();
  job.transport().start(messages);
  try {
    messages.wait(interrupts.token());
  } catch (const Cancelled&) {
    // The first rank reports it.
  }
  job.transport().stop();
  return 0;
}

// Called with the figures of a size after its last run.
using SizeMeasured = std::function<void(const SizeFigures& own)>;

// Alternates with ucx_perftest (empty: without) while the ranks are idle, so that other load on the machine affects both alike.
void measure_messages(std::vector<SizeFigures>& figures, const std::string& perftest, const BenchRun& run, int64_t bytes,
                      const Settings& settings, InterruptWatcher& interrupts, const SizeMeasured& measured) {
  RankJob::Options options{
      .identity = identity_of_local_job(run.ranks), .host = "", .others = {"pistachio", "bench", "alltoall"}, .query_words = {}};
  for (std::string& word : words_of_settings(settings)) options.others.push_back(std::move(word));
  RankJob job(std::move(options), settings, interrupts);
  AllToAll messages(job.transport());
  job.connect();
  job.transport().start(messages);
  struct Stop {
    Transport& transport;
    ~Stop() { transport.stop(); }
  } stop{job.transport()};
  CancelToken token = interrupts.token();
  for (SizeFigures& own : figures) {
    int64_t count = messages_of(own.message_bytes, bytes);
    auto speed = [&](AllToAll::Pattern pattern, int senders) {
      messages.run(pattern, own.message_bytes, std::max<int64_t>(1, count / 10), token);  // warm-up, as perftest does
      double seconds = messages.run(pattern, own.message_bytes, count, token);
      return static_cast<double>(own.message_bytes * count * senders) / seconds;
    };
    // Medians of the runs so far, so that an interruption loses nothing.
    std::vector<double> one_link;
    std::vector<double> all_to_all;
    std::vector<double> by_perftest;
    auto add = [](std::vector<double>& speeds, std::optional<double>& figure, double value) {
      speeds.push_back(value);
      figure = median(speeds);
    };
    for (int64_t i = 0; i < run.repeat; ++i) {
      add(one_link, own.one_link, speed(AllToAll::Pattern::FirstLink, 1));
      if (!perftest.empty()) add(by_perftest, own.perftest, perftest_bandwidth(perftest, own.message_bytes, count, token));
      add(all_to_all, own.all_to_all, speed(AllToAll::Pattern::AllPairs, run.ranks - 1));
    }
    measured(own);
  }
}

// With hardly any matches, probe rows are only partitioned and sent; in the join they are probed too.
void measure_queries(std::vector<SizeFigures>& figures, const CommandArguments& arguments, const BenchRun& run, const Settings& settings,
                     InterruptWatcher& interrupts, const SizeMeasured& measured) {
  int64_t rows = arguments.count("--rows", 800'000);
  JoinTables tables{.build_rows = rows / 3 + 1, .probe_rows = rows, .columns = kColumns};
  JoinTablePaths paths = join_tables_for(arguments, tables);
  JoinTablePaths few = join_tables_for(arguments, {.build_rows = 1'000, .probe_rows = 1'000, .columns = kColumns});
  BenchMeasurement measurement(run, settings, interrupts);
  for (SizeFigures& own : figures) {
    std::vector<std::pair<std::string, std::string>> size = {{"message_bytes", std::to_string(own.message_bytes)}};
    BenchCase what{.title = format_bytes(own.message_bytes), .folder = "", .variants = {}};
    what.variants.push_back({"with partitioning", size, join_query({few.build, paths.probe}, kColumns)});
    what.variants.push_back({"with join", size, join_query(paths, kColumns)});
    std::vector<VariantFigures> variants;
    measurement.measure(what, variants, [&](size_t index) {
      const VariantFigures& variant = variants[index];
      (index == 0 ? own.partition : own.join) = static_cast<double>(variant.bytes_received) / variant.t();
    });
    measured(own);
  }
}

std::string speed_text(const std::optional<double>& speed) {
  return speed ? fmt::format("{:.3f} GB/s", *speed / 1e9) : "-";
}

struct ShownFigure {
  const char* name;
  const char* json_name;
  std::optional<double> SizeFigures::*figure;
};

constexpr ShownFigure kColumnsShown[] = {{"one link", "one_link", &SizeFigures::one_link},
                                         {"ucx_perftest", "perftest", &SizeFigures::perftest},
                                         {"all to all", "all_to_all", &SizeFigures::all_to_all},
                                         {"with partitioning", "partition", &SizeFigures::partition},
                                         {"with join", "join", &SizeFigures::join}};
constexpr size_t kMessageColumns = 3;  // the others belong to queries

// Messages and queries have one table each: all sizes of the first are measured before the ranks of the second start.
class SizeTable {
 public:
  SizeTable(std::span<const ShownFigure> columns, bool has_ratio, const std::string& introduction)
      : columns_(columns), has_ratio_(has_ratio), table_(table_columns(columns, has_ratio), introduction) {}

  void print(const SizeFigures& own) {
    std::vector<std::string> cells = {format_bytes(own.message_bytes)};
    for (const ShownFigure& column : columns_) cells.push_back(speed_text(own.*column.figure));
    if (has_ratio_) cells.push_back(own.ratio() ? fmt::format("{:.2f}", *own.ratio()) : "-");
    table_.print(cells);
    printed_.insert(own.message_bytes);
  }

  // After an interruption: the size with incomplete runs.
  void print_rest(const std::vector<SizeFigures>& figures) {
    for (const SizeFigures& own : figures) {
      bool has_any = false;
      for (const ShownFigure& column : columns_) has_any = has_any || (own.*column.figure).has_value();
      if (has_any && !printed_.contains(own.message_bytes)) print(own);
    }
  }

 private:
  static std::vector<LiveTable::Column> table_columns(std::span<const ShownFigure> shown, bool has_ratio) {
    std::vector<LiveTable::Column> columns = {{"message", display_width("1023.0 KiB")}};
    for (const ShownFigure& column : shown) columns.push_back({column.name, display_width("10.000 GB/s")});
    if (has_ratio) columns.push_back({"one link / perftest"});
    return columns;
  }

  std::span<const ShownFigure> columns_;
  bool has_ratio_;
  LiveTable table_;
  std::set<int64_t> printed_;
};

Json json_of(const std::vector<SizeFigures>& figures, const BenchRun& run, const Settings& settings) {
  Json made = {{"kind", "alltoall"}, {"figure", "7"}, {"ranks", run.ranks}, {"settings", json_of_settings(settings)}};
  made["sizes"] = Json::array();
  for (const SizeFigures& own : figures) {
    Json size = {{"message_bytes", own.message_bytes}};
    for (const ShownFigure& column : kColumnsShown) size[column.json_name] = own.*column.figure ? Json(*(own.*column.figure)) : Json();
    size["ratio"] = own.ratio() ? Json(*own.ratio()) : Json();
    made["sizes"].push_back(std::move(size));
  }
  return made;
}

std::string lines_of(const std::vector<SizeFigures>& figures, const BenchRun& run) {
  LineChart chart{.title = fmt::format("Bandwidth over the size of messages, {} ranks (published figure 7)", run.ranks),
                  .x_title = "size of messages",
                  .y_title = "GB/s into one rank",
                  .doubling_x = true,
                  .x_ticks = {},
                  .series = {}};
  for (const SizeFigures& own : figures) chart.x_ticks.push_back({static_cast<double>(own.message_bytes), format_bytes(own.message_bytes)});
  for (const ShownFigure& column : kColumnsShown) {
    LineChart::Series series{column.name, {}};
    for (const SizeFigures& own : figures) {
      if (own.*column.figure) series.points.emplace_back(own.message_bytes, *(own.*column.figure) / 1e9);
    }
    if (!series.points.empty()) chart.series.push_back(std::move(series));
  }
  return draw(chart);
}

// Path of the program if it is usable; empty: it is skipped.
std::string chosen_perftest(const CommandArguments& arguments, const Settings& settings) {
  std::optional<std::string> named = arguments.value("--perftest");
  if (named && *named == "off") return "";
  if (named && ::access(named->c_str(), X_OK) != 0) throw UserError(fmt::format("--perftest {}: there is no such program", *named));
  std::optional<std::string> found = named ? named : find_perftest();
  if (found && settings.link_bandwidth_limit > 0) {
    print_to_standard_error("ucx_perftest is left out: it knows nothing of link_bandwidth_limit\n");
    return "";
  }
  if (!found) print_to_standard_error("ucx_perftest is skipped: it is not next to the UCX library; pass its path with --perftest\n");
  return found.value_or("");
}

}  // namespace

int run_bench_all_to_all_command(int argc, char** argv, Settings settings, InterruptWatcher& interrupts) {
  assign_for_comparison(settings);
  CommandArguments arguments(argc, argv,
                             {{"--ranks", true},
                              {"--repeat", true},
                              {"--json", true},
                              {"--plot", true},
                              {"--sizes", true},
                              {"--bytes", true},
                              {"--rows", true},
                              {"--cache", true},
                              {"--perftest", true},
                              {kParentOption, true}},
                             settings);
  refuse_words(arguments);
  if (arguments.has(kParentOption)) return take_part(settings, static_cast<pid_t>(arguments.count(kParentOption, 1)), interrupts);
  BenchRun run = bench_run(arguments, rank_count(arguments));
  if (run.ranks < 2) throw UsageError("alltoall needs at least 2 ranks");
  int64_t bytes = parse_byte_size(arguments.value("--bytes").value_or("64MiB"));
  std::vector<SizeFigures> figures;
  for (int64_t size : message_sizes(arguments)) figures.push_back({.message_bytes = size});
  std::string perftest = chosen_perftest(arguments, settings);
  BenchOutput output(arguments);
  const std::span<const ShownFigure> shown(kColumnsShown);
  SizeTable messages(shown.first(kMessageColumns), true, "");
  SizeTable queries(shown.subspan(kMessageColumns), false, "\n");
  std::exception_ptr interruption;
  try {
    measure_messages(figures, perftest, run, bytes, settings, interrupts, [&](const SizeFigures& own) { messages.print(own); });
    measure_queries(figures, arguments, run, settings, interrupts, [&](const SizeFigures& own) { queries.print(own); });
  } catch (const std::exception&) {
    if (!interrupts.token().is_cancelled()) throw;
    interruption = std::current_exception();
    messages.print_rest(figures);
    queries.print_rest(figures);
  }
  Json json = json_of(figures, run, settings);
  json["interrupted"] = interruption != nullptr;
  if (figures[0].one_link) output.write(json, lines_of(figures, run));
  if (interruption) std::rethrow_exception(interruption);
  return 0;
}

}  // namespace pistachio
