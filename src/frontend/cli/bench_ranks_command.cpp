#include "frontend/cli/bench_ranks_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "frontend/bench/file_paths.h"
#include "frontend/bench/svg_chart.h"
#include "frontend/cli/bench_arguments.h"
#include "frontend/cli/bench_output.h"
#include "frontend/cli/bench_report.h"

namespace pistachio {

namespace {

using Json = nlohmann::ordered_json;
using SettingValues = std::vector<std::pair<std::string, std::string>>;

// Cumulative, in the published order.
const std::vector<std::pair<std::string, SettingValues>>& query_variants() {
  static const std::vector<std::pair<std::string, SettingValues>> variants = {
      {"fully blocking",
       {{"join_schedule", "blocking"},
        {"overlap", "off"},
        {"reader", "blocking"},
        {"reader_combining", "off"},
        {"dynamic_buffering", "off"}}},
      {"fast network and storage",
       {{"join_schedule", "tuned"}, {"overlap", "off"}, {"reader", "chunked"}, {"reader_combining", "off"}, {"dynamic_buffering", "off"}}},
      {"+ reader combining and dynamic buffering",
       {{"join_schedule", "tuned"}, {"overlap", "off"}, {"reader", "chunked"}, {"reader_combining", "on"}, {"dynamic_buffering", "on"}}},
      {"+ overlap",
       {{"join_schedule", "deferred"}, {"overlap", "on"}, {"reader", "chunked"}, {"reader_combining", "on"}, {"dynamic_buffering", "on"}}},
  };
  return variants;
}

std::vector<OptionDescription> join_options() {
  std::vector<OptionDescription> own;
  for (const char* name : {"--columns", "--build", "--probe", "--hit", "--skew", "--cache"}) own.push_back({name, true});
  return with_common_options(std::move(own));
}

JoinTables join_tables(const CommandArguments& arguments, int64_t columns) {
  JoinTables tables;
  tables.build_rows = arguments.count("--build", 300'000);
  tables.probe_rows = arguments.count("--probe", 800'000);
  tables.columns = columns;
  tables.hit = share_option(arguments, "--hit", 0.5);
  return tables;
}

struct NamedQuery {
  std::string name;
  std::string sql;
};

NamedQuery read_query(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file || is_folder(path)) throw UserError(fmt::format("there is no query file {}", path));
  return {name_without_ending(path), text};
}

std::vector<NamedQuery> queries_of(const CommandArguments& arguments) {
  std::vector<NamedQuery> queries;
  for (const std::string& path : arguments.positional()) queries.push_back(read_query(path));
  if (queries.empty() || arguments.has("--queries")) {
    std::string folder = arguments.value("--query-folder").value_or("tests/tpch/queries");
    for (int64_t number : number_list(arguments, "--queries", "3", 99)) {
      std::string file = fmt::format("{}/q{:02}.sql", folder, number);
      if (::access(file.c_str(), R_OK) != 0)
        throw UserError(fmt::format("there is no query {}: no file {}; pass the folder of the queries with --query-folder", number, file));
      queries.push_back(read_query(file));
    }
  }
  return queries;
}

std::vector<std::string> data_folders(const CommandArguments& arguments) {
  std::vector<std::string> folders = split_list(arguments.value("--data").value_or(""));
  if (folders.empty()) throw UsageError("--data says which folder has the tables, NAME.parquet or NAME/");
  for (const std::string& folder : folders) {
    if (!is_folder(folder)) throw UserError(fmt::format("--data {}: there is no such folder", folder));
  }
  return folders;
}

// The figures of a possibly interrupted run: they are reported before the command exits as interrupted.
struct Outcome {
  std::vector<VariantFigures> figures;
  std::exception_ptr interruption;

  bool has_figures() const {
    return std::any_of(figures.begin(), figures.end(), [](const VariantFigures& own) { return own.is_measured(); });
  }
  void rethrow_interruption() const {
    if (interruption) std::rethrow_exception(interruption);
  }
};

FigureTable table_for(const std::vector<BenchCase>& cases) {
  std::vector<std::string> titles;
  std::vector<std::string> variants;
  for (const BenchCase& what : cases) {
    titles.push_back(what.title);
    for (const BenchVariant& variant : what.variants) variants.push_back(variant.name);
  }
  return {titles, variants};
}

// Adds to the outcome and prints each variant after its last run or, on Ctrl-C, with the runs it has.
void measure_all(const BenchRun& run, const Settings& settings, const std::vector<BenchCase>& cases, InterruptWatcher& interrupts,
                 FigureTable& table, Outcome& outcome) {
  std::set<size_t> printed;
  const size_t first = outcome.figures.size();
  auto print = [&](size_t index) {
    table.print(outcome.figures, index);
    printed.insert(index);
  };
  BenchMeasurement measurement(run, settings, interrupts);
  try {
    for (const BenchCase& what : cases) measurement.measure(what, outcome.figures, print);
  } catch (const std::exception&) {
    if (!interrupts.token().is_cancelled()) throw;
    outcome.interruption = std::current_exception();
    for (size_t i = first; i < outcome.figures.size(); ++i) {
      if (outcome.figures[i].is_measured() && !printed.contains(i)) print(i);
    }
  }
}

Outcome measure_all(const BenchRun& run, const Settings& settings, const std::vector<BenchCase>& cases, InterruptWatcher& interrupts) {
  Outcome outcome;
  FigureTable table = table_for(cases);
  measure_all(run, settings, cases, interrupts, table, outcome);
  return outcome;
}

int report(const BenchTitle& title, const std::string& caption, const Settings& settings, const Outcome& outcome,
           const BenchOutput& output) {
  if (outcome.has_figures()) {
    Json json = json_of(title, settings, outcome.figures);
    json["interrupted"] = outcome.interruption != nullptr;
    output.write(json, bars_of(caption, outcome.figures));
  }
  outcome.rethrow_interruption();
  return 0;
}

}  // namespace

int run_bench_join_command(int argc, char** argv, Settings settings, InterruptWatcher& interrupts) {
  assign_for_comparison(settings);
  CommandArguments arguments(argc, argv, join_options(), settings);
  refuse_words(arguments);
  BenchRun run = bench_run(arguments, rank_count(arguments));
  std::vector<int64_t> columns = number_list(arguments, "--columns", "1,4,8", 100);
  BenchOutput output(arguments);
  std::vector<BenchCase> cases;
  for (int64_t count : columns) {
    JoinTables tables = join_tables(arguments, count);
    tables.skew = share_option(arguments, "--skew", 0);
    std::string sql = join_query(join_tables_for(arguments, tables), count);
    BenchCase what{.title = fmt::format("{} column{}", count, count == 1 ? "" : "s"), .folder = "", .variants = {}};
    for (const char* schedule : {"blocking", "tuned", "chunked", "deferred"})
      what.variants.push_back({schedule, {{"join_schedule", schedule}}, sql});
    cases.push_back(std::move(what));
  }
  Outcome outcome = measure_all(run, settings, cases, interrupts);
  std::string caption = fmt::format("Join over columns, {} ranks (published figures 5 and 8)", run.ranks);
  return report({"join", "5, 8"}, caption, settings, outcome, output);
}

int run_bench_skew_command(int argc, char** argv, Settings settings, InterruptWatcher& interrupts) {
  assign_for_comparison(settings, {"spread_keys"});
  CommandArguments arguments(argc, argv, join_options(), settings);
  refuse_words(arguments);
  BenchRun run = bench_run(arguments, rank_count(arguments));
  std::vector<int64_t> columns = number_list(arguments, "--columns", "4", 100);
  double skew = share_option(arguments, "--skew", 0.5);
  BenchOutput output(arguments);
  std::vector<BenchCase> cases;
  for (int64_t count : columns) {
    JoinTables tables = join_tables(arguments, count);
    std::string uniform = join_query(join_tables_for(arguments, tables), count);
    tables.skew = skew;
    std::string skewed = join_query(join_tables_for(arguments, tables), count);
    BenchCase what{.title = fmt::format("{} column{}", count, count == 1 ? "" : "s"), .folder = "", .variants = {}};
    what.variants = {{"uniform", {}, uniform}, {"skewed", {}, skewed}};
    cases.push_back(std::move(what));
  }
  Outcome outcome = measure_all(run, settings, cases, interrupts);
  const std::vector<VariantFigures>& figures = outcome.figures;
  Json json = json_of({"skew", ""}, settings, figures);
  json["interrupted"] = outcome.interruption != nullptr;
  json["skew"] = skew;
  json["ratios"] = Json::array();
  for (size_t i = 0; i + 1 < figures.size(); i += 2) {
    if (!figures[i].is_measured() || !figures[i + 1].is_measured()) continue;
    double ratio = figures[i + 1].t() / figures[i].t();
    fmt::print("{}: one key with {:.0f} % of the rows takes {:.2f} times as long as even keys\n", figures[i].title, skew * 100, ratio);
    json["ratios"].push_back({{"case", figures[i].title}, {"ratio", ratio}});
  }
  if (outcome.has_figures()) output.write(json, bars_of(fmt::format("Join with one frequent key, {} ranks", run.ranks), figures));
  outcome.rethrow_interruption();
  return 0;
}

int run_bench_overlap_command(int argc, char** argv, Settings settings, InterruptWatcher& interrupts) {
  assign_for_comparison(settings);
  CommandArguments arguments(argc, argv, with_common_options({{"--data", true}, {"--queries", true}, {"--query-folder", true}}), settings);
  BenchRun run = bench_run(arguments, rank_count(arguments));
  std::vector<std::string> folders = data_folders(arguments);
  std::vector<NamedQuery> queries = queries_of(arguments);
  BenchOutput output(arguments);
  std::vector<BenchCase> cases;
  for (const std::string& folder : folders) {
    for (const NamedQuery& query : queries) {
      std::string title = folders.size() == 1 ? query.name : fmt::format("{} {}", query.name, last_name(folder));
      BenchCase what{.title = title, .folder = folder, .variants = {}};
      for (const auto& [name, values] : query_variants()) what.variants.push_back({name, values, query.sql});
      cases.push_back(std::move(what));
    }
  }
  Outcome outcome = measure_all(run, settings, cases, interrupts);
  std::string caption = fmt::format("Queries from blocking to everything at once, {} ranks (published figures 14 and 15)", run.ranks);
  return report({"overlap", "14, 15"}, caption, settings, outcome, output);
}

int run_bench_scaling_command(int argc, char** argv, Settings settings, InterruptWatcher& interrupts) {
  CommandArguments arguments(argc, argv, with_common_options({{"--data", true}, {"--queries", true}, {"--query-folder", true}}), settings);
  std::vector<int64_t> counts = number_list(arguments, "--ranks", "2", kMaxBenchRanks);
  if (counts.size() == 1) {  // a single number n means 1 .. n
    for (int64_t ranks = 1; ranks < counts.back(); ++ranks) counts.insert(counts.end() - 1, ranks);
  }
  if (arguments.has("--balance")) throw UsageError("--balance cannot be combined with scaling: limits must stay the same");
  std::vector<std::string> folders = data_folders(arguments);
  std::vector<NamedQuery> queries = queries_of(arguments);
  BenchOutput output(arguments);
  std::vector<std::vector<BenchCase>> cases_of_counts;
  for (int64_t ranks : counts) {
    std::vector<BenchCase>& cases = cases_of_counts.emplace_back();
    for (const std::string& folder : folders) {
      for (const NamedQuery& query : queries) {
        std::string title = fmt::format("{} {}", query.name, last_name(folder));
        cases.push_back({title, folder, {{fmt::format("{} rank{}", ranks, ranks == 1 ? "" : "s"), {}, query.sql}}});
      }
    }
  }
  Outcome outcome;
  FigureTable table = table_for(cases_of_counts.back());
  for (size_t i = 0; i < counts.size() && !outcome.interruption; ++i) {
    BenchRun run = bench_run(arguments, static_cast<int>(counts[i]));
    measure_all(run, settings, cases_of_counts[i], interrupts, table, outcome);
  }
  std::vector<VariantFigures>& figures = outcome.figures;
  // Speedups are relative to the fewest ranks on the same data.
  std::stable_sort(figures.begin(), figures.end(), [](const VariantFigures& a, const VariantFigures& b) { return a.title < b.title; });
  LineChart chart{.title = "Queries over ranks and data (published figures 16 and 18)",
                  .x_title = "ranks",
                  .y_title = "T, s",
                  .doubling_x = false,
                  .x_ticks = {},
                  .series = {}};
  for (int64_t ranks : counts) chart.x_ticks.push_back({static_cast<double>(ranks), std::to_string(ranks)});
  for (const VariantFigures& own : figures) {
    if (!own.is_measured()) continue;
    if (chart.series.empty() || chart.series.back().name != own.title) chart.series.push_back({own.title, {}});
    chart.series.back().points.emplace_back(own.ranks, own.t());
  }
  Json json = json_of({"scaling", "16, 18"}, settings, figures);
  json["interrupted"] = outcome.interruption != nullptr;
  if (outcome.has_figures()) output.write(json, draw(chart));
  outcome.rethrow_interruption();
  return 0;
}

}  // namespace pistachio
