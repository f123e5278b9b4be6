#include "frontend/cli/on_path_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/format_bytes.h"
#include "frontend/bench/svg_chart.h"
#include "frontend/cli/bench_report.h"
#include "frontend/cli/display_text.h"
#include "frontend/cli/text_table.h"

namespace pistachio {

namespace {

using Json = nlohmann::ordered_json;

std::string tuples_text(int64_t tuples) {
  if (tuples % (1 << 20) == 0) return fmt::format("{}Mi", tuples >> 20);
  if (tuples % (1 << 10) == 0) return fmt::format("{}Ki", tuples >> 10);
  return std::to_string(tuples);
}

std::string link_text(const OnPathCell& cell) {
  return cell.gigabits ? fmt::format("{:g} Gbit/s", *cell.gigabits) : "no limit";
}

std::string cell_text(const OnPathCell& cell) {
  return fmt::format("{}, {} keys of {} bits, {} tuples per rank, uniqueness {:g}", link_text(cell), name_of(cell.data.model),
                     cell.data.key_bits, tuples_text(cell.data.tuples), cell.data.uniqueness);
}

std::string milliseconds_text(const std::optional<double>& seconds) {
  return seconds ? fmt::format("{:.1f}", *seconds * 1e3) : "-";
}

std::string millions_text(const std::optional<double>& number) {
  return number ? fmt::format("{:.1f}", *number / 1e6) : "-";
}

std::string bytes_text(const std::optional<double>& bytes) {
  return bytes ? format_bytes(static_cast<int64_t>(*bytes)) : "-";
}

std::vector<LiveTable::Column> on_path_columns() {
  using Align = TextTable::Align;
  const size_t bytes = display_width("1023.0 MiB");
  std::vector<LiveTable::Column> columns = {{"link", display_width("200 Gbit/s"), Align::Left},
                                            {"keys", display_width("disjoint 32"), Align::Left},
                                            {"tuples"},
                                            {"uniqueness"},
                                            {"on_path", 0, Align::Left},
                                            {"T ms", display_width("10000.0")},
                                            {"Mtuples/s", display_width("1000.0")},
                                            {"combiner M/s"},
                                            {"wire predicted", bytes},
                                            {"wire", bytes},
                                            {"link alone", display_width("1000.0")}};
  for (const NamedStage& stage : kOnPathStages) columns.push_back({std::string(stage.name), display_width("1000.0")});
  return columns;
}

std::string value_text(const OnPathCheck& check) {
  return check.rule == kBytesRule ? fmt::format("{:+.0f} %", check.value * 100) : fmt::format("{:.2f}x", check.value);
}

template <typename Number>
Json value_or_null(const std::optional<Number>& value) {
  return value ? Json(*value) : Json();
}

std::optional<double> seconds_of_stage(const OnPathCellFigures& cell, const OnPathRun& run, const NamedStage& stage) {
  if (stage.is_device_copy && !cell.is_on_cpu) return std::nullopt;
  return run.stages.*stage.seconds;
}

Json json_of_stages(const OnPathCellFigures& cell, const OnPathRun& run) {
  Json made;
  for (const NamedStage& stage : kOnPathStages) made[std::string(stage.json_name)] = value_or_null(seconds_of_stage(cell, run, stage));
  return made;
}

Json json_of_variant(const OnPathCellFigures& cell, const OnPathVariantFigures& own) {
  const OnPathRun run = own.middle();
  std::vector<double> seconds;
  for (const OnPathRun& one : own.runs) seconds.push_back(one.seconds);
  return {{"variant", own.variant.name},
          {"t", run.seconds},
          {"runs", seconds},
          {"tuples_per_second", cell.tuples_per_second(run)},
          {"combiner_rows_per_second", value_or_null(run.combiner_rate())},
          {"combiner_rows", run.combiner_rows},
          {"wire_rows", run.wire_rows},
          {"wire_bytes", run.wire_bytes},
          {"predicted_wire_bytes", value_or_null(cell.predicted_bytes(own.variant))},
          {"link_seconds", value_or_null(cell.link_seconds(run))},
          {"host_bytes", run.host_bytes},
          {"stages", json_of_stages(cell, run)}};
}

Json json_of_cell(const OnPathCellFigures& cell) {
  const OnPathData& data = cell.cell.data;
  const ExpectedKeys expected = expected_keys(data);
  Json made = {{"model", name_of(data.model)},
               {"key_bits", data.key_bits},
               {"tuples_per_rank", data.tuples},
               {"uniqueness", data.uniqueness},
               {"link_gigabits", value_or_null(cell.cell.gigabits)},
               {"link_bandwidth_limit", cell.cell.link_limit > 0 ? Json(cell.cell.link_limit) : Json()},
               {"link_share_of_off", value_or_null(cell.link_share())},
               {"device", cell.is_on_cpu ? "cpu" : "cuda"},
               {"expected_keys", {{"per_rank", expected.per_rank}, {"per_host", expected.per_host}, {"in_all", expected.in_all}}},
               {"distinct_keys", value_or_null(cell.distinct)},
               {"variants", Json::array()}};
  for (const OnPathVariantFigures& own : cell.variants) {
    if (own.is_measured()) made["variants"].push_back(json_of_variant(cell, own));
  }
  return made;
}

Json json_of_check(const OnPathCheck& check) {
  return {{"rule", check.rule},   {"cell", cell_text(check.cell->cell)}, {"variant", check.variant},
          {"value", check.value}, {"bound", check.bound},                {"holds", check.holds}};
}

Json json_of_published() {
  Json made = Json::array();
  for (const PublishedRun& run : kPublishedRuns) {
    made.push_back({{"tuples_per_rank", run.tuples},
                    {"uniqueness", run.uniqueness},
                    {"baseline_milliseconds", run.baseline_milliseconds},
                    {"on_path_milliseconds", run.on_path_milliseconds},
                    {"baseline_tuples_sent", run.baseline_sent},
                    {"on_path_tuples_sent", run.on_path_sent}});
  }
  return made;
}

// Our cell that resembles a published run most: the same keys, on the fastest link, with the most tuples.
const OnPathCellFigures* counterpart(const PublishedRun& run, const std::vector<OnPathCellFigures>& cells) {
  const OnPathCellFigures* best = nullptr;
  for (const OnPathCellFigures& own : cells) {
    const OnPathData& data = own.cell.data;
    if (data.model != KeyModel::Disjoint || data.key_bits != 32 || data.uniqueness != run.uniqueness) continue;
    if (own.find("none") == nullptr || own.find("on") == nullptr) continue;
    auto rank = [](const OnPathCellFigures& figures) {
      const int64_t limit = figures.cell.link_limit;
      return std::pair(limit == 0 ? std::numeric_limits<int64_t>::max() : limit, figures.cell.data.tuples);
    };
    if (best == nullptr || rank(own) > rank(*best)) best = &own;
  }
  return best;
}

// Collects points into series, in the order in which these occur first.
class ChartBuilder {
 public:
  ChartBuilder(std::string title, std::string x_title, std::string y_title) {
    chart_.title = std::move(title);
    chart_.x_title = std::move(x_title);
    chart_.y_title = std::move(y_title);
    chart_.doubling_x = true;
  }

  void add(const std::string& series, double x, const std::string& tick, double y) {
    auto found = std::find_if(chart_.series.begin(), chart_.series.end(), [&](const auto& own) { return own.name == series; });
    if (found == chart_.series.end()) found = chart_.series.insert(found, {series, {}});
    found->points.emplace_back(x, y);
    if (ticks_.emplace(x, tick).second) chart_.x_ticks.push_back({x, tick});
  }

  bool is_empty() const { return chart_.series.empty(); }
  LineChart take() {
    for (LineChart::Series& series : chart_.series) std::sort(series.points.begin(), series.points.end());
    return std::move(chart_);
  }

 private:
  LineChart chart_;
  std::map<double, std::string> ticks_;
};

// Calls body(group, cells) for the measured cells of each group, in the order in which groups occur first.
template <typename Name, typename Body>
void for_each_group(const std::vector<OnPathCellFigures>& cells, const Name& name, const Body& body) {
  std::vector<std::string> groups;
  std::map<std::string, std::vector<const OnPathCellFigures*>> cells_of_groups;
  for (const OnPathCellFigures& own : cells) {
    if (!own.is_measured()) continue;
    std::vector<const OnPathCellFigures*>& others = cells_of_groups[name(own.cell)];
    if (others.empty()) groups.push_back(name(own.cell));
    others.push_back(&own);
  }
  for (const std::string& group : groups) body(group, cells_of_groups[group]);
}

// Links hardly matter for combiners, nor for the number of distinct keys: these charts show one link.
bool is_on_first_link(const OnPathCellFigures& own, const std::vector<OnPathCellFigures>& cells) {
  return own.cell.link_limit == cells.front().cell.link_limit;
}

std::string keys_text(const OnPathCell& cell) {
  return fmt::format("{} keys of {} bits", name_of(cell.data.model), cell.data.key_bits);
}

void add_combiner_charts(const std::vector<OnPathCellFigures>& cells, std::vector<LineChart>& charts) {
  for_each_group(cells, keys_text, [&](const std::string& group, const std::vector<const OnPathCellFigures*>& members) {
    ChartBuilder chart("Combiners, " + group, "tuples per rank", "million rows/s per combining rank");
    for (const OnPathCellFigures* own : members) {
      const OnPathVariantFigures* on = own->find("on");
      const std::optional<double> rate = on == nullptr ? std::nullopt : on->middle().combiner_rate();
      if (!rate || !is_on_first_link(*own, cells)) continue;
      const int64_t tuples = own->cell.data.tuples;
      chart.add(fmt::format("uniqueness {:g}", own->cell.data.uniqueness), static_cast<double>(tuples), tuples_text(tuples), *rate / 1e6);
    }
    if (!chart.is_empty()) charts.push_back(chart.take());
  });
}

void add_distinct_chart(const std::vector<OnPathCellFigures>& cells, std::vector<LineChart>& charts) {
  ChartBuilder chart("Distinct keys", "uniqueness", "share of all tuples");
  const OnPathData& first = cells.front().cell.data;
  for (const OnPathCellFigures& own : cells) {
    const OnPathData& data = own.cell.data;
    if (!own.distinct || !is_on_first_link(own, cells) || data.tuples != first.tuples || data.key_bits != first.key_bits) continue;
    chart.add(std::string(name_of(data.model)), data.uniqueness, fmt::format("{:g}", data.uniqueness),
              static_cast<double>(*own.distinct) / static_cast<double>(data.all_tuples()));
  }
  if (!chart.is_empty()) charts.push_back(chart.take());
}

// Throughput of the variants by uniqueness for the most tuples and, if there are several sizes, by size for the lowest uniqueness.
void add_throughput_charts(const std::string& group, const std::vector<const OnPathCellFigures*>& cells, std::vector<LineChart>& charts) {
  std::set<int64_t> sizes;
  std::set<double> shares;
  for (const OnPathCellFigures* own : cells) {
    sizes.insert(own->cell.data.tuples);
    shares.insert(own->cell.data.uniqueness);
  }
  ChartBuilder by_size(fmt::format("End to end, {}, uniqueness {:g}", group, *shares.begin()), "tuples per rank", "million tuples/s");
  ChartBuilder by_share(fmt::format("End to end, {}, {} tuples per rank", group, tuples_text(*sizes.rbegin())), "uniqueness",
                        "million tuples/s");
  for (const OnPathCellFigures* own : cells) {
    const OnPathData& data = own->cell.data;
    for (const OnPathVariantFigures& variant : own->variants) {
      if (!variant.is_measured()) continue;
      const double speed = own->tuples_per_second(variant.middle()) / 1e6;
      const std::string name = "on_path " + variant.variant.name;
      if (data.uniqueness == *shares.begin()) by_size.add(name, static_cast<double>(data.tuples), tuples_text(data.tuples), speed);
      if (data.tuples == *sizes.rbegin()) by_share.add(name, data.uniqueness, fmt::format("{:g}", data.uniqueness), speed);
    }
  }
  if (sizes.size() > 1) charts.push_back(by_size.take());
  charts.push_back(by_share.take());
}

}  // namespace

std::string introduction_of(const OnPathSweep& sweep) {
  std::string text = fmt::format("{} source hosts with {} ranks each and a sink, simulated on this machine. Links: {:.4g} of the published "
                                 "bandwidth ({})\n",
                                 sweep.source_hosts, sweep.ranks_per_host, sweep.scale.factor, sweep.scale.reason);
  std::set<std::pair<double, int64_t>> limits;
  for (const OnPathCell& cell : sweep.cells) {
    if (cell.gigabits) limits.emplace(*cell.gigabits, cell.link_limit);
  }
  for (const auto& [gigabits, limit] : limits)
    text += fmt::format("  {:g} Gbit/s: link_bandwidth_limit={} ({:.1f} MB/s)\n", gigabits, limit, static_cast<double>(limit) / 1e6);
  for (const std::string& name : sweep.skipped) text += fmt::format("{} is skipped: the setting on_path does not have this value\n", name);
  return text;
}

OnPathTable::OnPathTable(const std::string& introduction) : table_(on_path_columns(), introduction + "\n") {}

void OnPathTable::print(const OnPathCellFigures& figures) {
  const OnPathData& data = figures.cell.data;
  for (const OnPathVariantFigures& own : figures.variants) {
    if (!own.is_measured()) continue;
    const OnPathRun run = own.middle();
    std::vector<std::string> cells = {link_text(figures.cell),
                                      fmt::format("{} {}", name_of(data.model), data.key_bits),
                                      tuples_text(data.tuples),
                                      fmt::format("{:g}", data.uniqueness),
                                      own.variant.name,
                                      milliseconds_text(run.seconds),
                                      millions_text(figures.tuples_per_second(run)),
                                      millions_text(run.combiner_rate()),
                                      bytes_text(figures.predicted_bytes(own.variant)),
                                      bytes_text(static_cast<double>(run.wire_bytes)),
                                      milliseconds_text(figures.link_seconds(run))};
    for (const NamedStage& stage : kOnPathStages) cells.push_back(milliseconds_text(seconds_of_stage(figures, run, stage)));
    table_.print(cells);
  }
}

std::string text_of_checks(const std::vector<OnPathCellFigures>& cells) {
  const std::vector<OnPathCheck> checks = on_path_checks(cells);
  std::string text;
  for (std::string_view rule : {kAutoRule, kGainRule, kBytesRule}) {
    int64_t held = 0;
    std::string misses;
    int64_t all = 0;
    for (const OnPathCheck& check : checks) {
      if (check.rule != rule) continue;
      ++all;
      held += check.holds ? 1 : 0;
      if (!check.holds) misses += fmt::format("  missed: {}, {}: {}\n", cell_text(check.cell->cell), check.variant, value_text(check));
    }
    text += all == 0 ? fmt::format("{}: no cell to check\n", rule) : fmt::format("{}: {} of {}\n{}", rule, held, all, misses);
  }
  return text;
}

std::string published_comparison(const std::vector<OnPathCellFigures>& cells) {
  using Align = TextTable::Align;
  std::vector<TextTable::Heading> headings;
  for (const char* name :
       {"tuples", "uniqueness", "none ms", "on ms", "none Mtuples/s", "on Mtuples/s", "rows sent by none", "rows sent by on", "on/none",
        "here: tuples", "none Mtuples/s", "on Mtuples/s", "combiner M/s", "on/none"})
    headings.push_back({name, Align::Right});
  TextTable table(headings);
  for (const PublishedRun& run : kPublishedRuns) {
    const auto tuples = static_cast<double>(4 * run.tuples);
    std::vector<std::string> row = {tuples_text(run.tuples),
                                    fmt::format("{:g}", run.uniqueness),
                                    fmt::format("{:.0f}", run.baseline_milliseconds),
                                    fmt::format("{:.0f}", run.on_path_milliseconds),
                                    millions_text(tuples / run.baseline_milliseconds * 1e3),
                                    millions_text(tuples / run.on_path_milliseconds * 1e3),
                                    fmt::format("{:.1f}M", run.baseline_sent / 1e6),
                                    fmt::format("{:.1f}M", run.on_path_sent / 1e6),
                                    fmt::format("{:.1f}x", run.on_path_milliseconds / run.baseline_milliseconds)};
    if (const OnPathCellFigures* own = counterpart(run, cells)) {
      const OnPathRun none = own->find("none")->middle();
      const OnPathRun on = own->find("on")->middle();
      row.insert(row.end(), {tuples_text(own->cell.data.tuples), millions_text(own->tuples_per_second(none)),
                             millions_text(own->tuples_per_second(on)), millions_text(on.combiner_rate()),
                             fmt::format("{:.2f}x", on.seconds / none.seconds)});
    } else {
      row.insert(row.end(), 5, "-");
    }
    table.add(row);
  }
  return "Published (times end to end, keys in memory of V100 GPUs, 8 cores per host; CPU dedupe of about 2.8 Mtuples/s per host), and\n"
         "here with the same keys on the fastest measured link:\n" +
         table.to_string();
}

Json json_of_on_path(const OnPathSweep& sweep, const Settings& settings, const std::vector<OnPathCellFigures>& cells) {
  Json made = {{"kind", "onpath"},
               {"figure", "on-path 4, 5, 6"},
               {"settings", json_of_settings(settings)},
               {"source_hosts", sweep.source_hosts},
               {"ranks_per_host", sweep.ranks_per_host},
               {"link_scale", {{"factor", sweep.scale.factor}, {"reason", sweep.scale.reason}}},
               {"skipped_variants", sweep.skipped},
               {"cells", Json::array()},
               {"checks", Json::array()},
               {"published", json_of_published()}};
  for (const OnPathCellFigures& cell : cells) {
    if (cell.is_measured()) made["cells"].push_back(json_of_cell(cell));
  }
  for (const OnPathCheck& check : on_path_checks(cells)) made["checks"].push_back(json_of_check(check));
  return made;
}

std::string charts_of_on_path(const std::vector<OnPathCellFigures>& cells) {
  std::vector<LineChart> charts;
  add_combiner_charts(cells, charts);
  add_distinct_chart(cells, charts);
  auto link_and_keys = [](const OnPathCell& cell) { return fmt::format("{}, {}", link_text(cell), keys_text(cell)); };
  for_each_group(cells, link_and_keys, [&](const std::string& group, const std::vector<const OnPathCellFigures*>& members) {
    add_throughput_charts(group, members, charts);
  });
  if (!charts.empty()) charts.front().title += " (this and the following: published on-path figures 4 to 6)";
  return draw(charts);
}

}  // namespace pistachio
