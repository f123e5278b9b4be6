#include "frontend/cli/bench_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "frontend/bench/svg_chart.h"
#include "frontend/cli/display_text.h"
#include "frontend/cli/live_table.h"

namespace pistachio {

namespace {

using Json = nlohmann::ordered_json;

std::string seconds_text(const std::optional<double>& seconds) {
  return seconds ? fmt::format("{:.3f} s", *seconds) : "-";
}

std::string share_text(const std::optional<double>& share) {
  return share ? fmt::format("{:.0f} %", *share * 100) : "-";
}

Json number_or_null(const std::optional<double>& number) {
  return number ? Json(*number) : Json();
}

Json limit_or_null(int64_t limit) {
  return limit > 0 ? Json(limit) : Json();
}

size_t longest_of(const std::vector<std::string>& texts) {
  size_t longest = 0;
  for (const std::string& text : texts) longest = std::max(longest, display_width(text));
  return longest;
}

std::vector<LiveTable::Column> figure_columns(const std::vector<std::string>& titles, const std::vector<std::string>& variants) {
  using Align = TextTable::Align;
  std::vector<LiveTable::Column> columns = {
      {"case", longest_of(titles), Align::Left}, {"variant", longest_of(variants), Align::Left}, {"ranks"}};
  const size_t seconds = display_width("1000.000 s");
  for (const char* name : {"T", "T_min"}) columns.push_back({name, seconds});
  columns.push_back({"T/T_min"});
  columns.push_back({"link", display_width("100 %")});
  columns.push_back({"gain", display_width("10.00x")});
  for (const char* name : {"storage alone", "link alone", "cores alone", "sum", "maximum"}) columns.push_back({name, seconds});
  columns.push_back({"possible gain"});
  columns.push_back({"reached"});
  return columns;
}

std::optional<double> reached_share(const VariantFigures& own, const std::optional<double>& gain) {
  if (!gain) return std::nullopt;
  return *gain / own.phases.possible_gain();
}

}  // namespace

FigureTable::FigureTable(const std::vector<std::string>& titles, const std::vector<std::string>& variants)
    : table_(figure_columns(titles, variants)) {}

void FigureTable::print(const std::vector<VariantFigures>& figures, size_t index) {
  const VariantFigures& own = figures[index];
  std::optional<double> gain = gains(figures)[index];
  table_.print({own.title, own.variant, std::to_string(own.ranks), seconds_text(own.t()), seconds_text(own.t_min),
                own.ratio() ? fmt::format("{:.2f}", *own.ratio()) : "-", share_text(own.link_use()),
                gain ? fmt::format("{:.2f}x", *gain) : "-", seconds_text(own.phases.storage), seconds_text(own.phases.link),
                seconds_text(own.phases.cores), seconds_text(own.phases.sum()), seconds_text(own.phases.longest()),
                fmt::format("{:.2f}x", own.phases.possible_gain()), share_text(reached_share(own, gain))});
}

Json json_of_settings(const Settings& settings) {
  Json made = Json::object();
  for (const SettingDescription& setting : setting_descriptions()) {
    if (setting.show(settings) != setting.show(Settings())) made[std::string(setting.name)] = setting.show(settings);
  }
  return made;
}

Json json_of(const BenchTitle& title, const Settings& settings, const std::vector<VariantFigures>& figures) {
  Json made = {{"kind", title.kind}, {"figure", title.figure}, {"settings", json_of_settings(settings)}, {"variants", Json::array()}};
  std::vector<std::optional<double>> gained = gains(figures);
  for (size_t i = 0; i < figures.size(); ++i) {
    const VariantFigures& own = figures[i];
    if (!own.is_measured()) continue;
    made["variants"].push_back({{"case", own.title},
                                {"variant", own.variant},
                                {"ranks", own.ranks},
                                {"t", own.t()},
                                {"runs", own.seconds},
                                {"t_min", number_or_null(own.t_min)},
                                {"ratio", number_or_null(own.ratio())},
                                {"link_use", number_or_null(own.link_use())},
                                {"gain", number_or_null(gained[i])},
                                {"limits",
                                 {{"storage_bandwidth_limit", limit_or_null(own.storage_limit)},
                                  {"link_bandwidth_limit", limit_or_null(own.link_limit)}}},
                                {"bandwidths",
                                 {{"storage", own.bandwidths.storage > 0 ? Json(own.bandwidths.storage) : Json()},
                                  {"link", own.bandwidths.link > 0 ? Json(own.bandwidths.link) : Json()}}},
                                {"phases",
                                 {{"storage", number_or_null(own.phases.storage)},
                                  {"link", number_or_null(own.phases.link)},
                                  {"cores", number_or_null(own.phases.cores)},
                                  {"sum", own.phases.sum()},
                                  {"maximum", own.phases.longest()},
                                  {"possible_gain", own.phases.possible_gain()},
                                  {"reached", number_or_null(reached_share(own, gained[i]))}}},
                                {"bytes_read", own.bytes_read},
                                {"bytes_received", own.bytes_received}});
  }
  return made;
}

std::string bars_of(const std::string& title, const std::vector<VariantFigures>& figures) {
  BarChart chart{.title = title, .mark_name = "T_min", .bars = {}};
  for (const VariantFigures& own : figures) {
    if (!own.is_measured()) continue;
    BarChart::Bar bar{.group = own.title,
                      .label = own.variant,
                      .value = own.t(),
                      .value_text = seconds_text(own.t()),
                      .mark = own.t_min,
                      .parts = {}};
    if (own.phases.storage) bar.parts.push_back({"storage alone", *own.phases.storage});
    if (own.phases.link) bar.parts.push_back({"link alone", *own.phases.link});
    if (own.phases.cores) bar.parts.push_back({"cores alone", *own.phases.cores});
    chart.bars.push_back(std::move(bar));
  }
  return draw(chart);
}

}  // namespace pistachio
