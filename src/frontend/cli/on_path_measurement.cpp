#include "frontend/cli/on_path_measurement.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

#include "base/check.h"
#include "columns/decode_dictionary.h"
#include "frontend/bench/on_path_tables.h"

namespace pistachio {

namespace {

// Keeps the only value of a result.
class OnlyValue final : public ResultReceiver {
 public:
  void begin(const std::vector<ResultColumn>&) override {}
  void add(const Chunk& chunk) override {
    rows_ += chunk.rows();
    if (chunk.rows() > 0) column_ = decode_dictionary(chunk.column(0));
  }
  void end() override { ENSURE_EQ(rows_, 1); }

  int64_t number() const { return column_->values().const_data_ptr<int64_t>()[0]; }
  std::string text() const {
    const int64_t begin = column_->begins().const_data_ptr<int64_t>()[0];
    const int64_t end = column_->ends().const_data_ptr<int64_t>()[0];
    const auto* bytes = reinterpret_cast<const char*>(column_->bytes().const_data_ptr<uint8_t>());
    return {bytes + begin, bytes + end};
  }

 private:
  int64_t rows_ = 0;
  std::optional<Column> column_;
};

// Steps are numbered in this order (step_numbers in profile/query_profile.h).
void add_step_names(const nlohmann::json& step, std::vector<std::string>& names) {
  names.push_back(step.at("operator").get<std::string>());
  for (const nlohmann::json& input : step.at("inputs")) add_step_names(input, names);
}

}  // namespace

void assign_for_on_path(Settings& settings) {
  settings.local_files = true;
  settings.group_distribution = GroupDistribution::Gather;
}

OnPathMeasurement::OnPathMeasurement(const OnPathSweep& sweep, std::string folder, Settings settings, InterruptWatcher& interrupts)
    : sweep_(sweep), folder_(std::move(folder)), settings_(std::move(settings)), interrupts_(interrupts) {}

BenchRanks& OnPathMeasurement::ranks_with(int64_t link_limit) {
  if (!ranks_ || link_limit_ != link_limit) {
    ranks_.reset();  // before starting new ones: they share the machine
    Settings settings = settings_;
    settings.link_bandwidth_limit = link_limit;
    ranks_ = std::make_unique<BenchRanks>(sweep_.ranks(), settings, interrupts_, sweep_.hosts());
    link_limit_ = link_limit;
  }
  return *ranks_;
}

std::vector<std::string> OnPathMeasurement::steps_of(BenchRanks& ranks, Session& session, const std::string& sql) {
  OnlyValue plan;
  ranks.run(session, "EXPLAIN (FORMAT JSON) " + sql, plan);
  std::vector<std::string> names;
  add_step_names(nlohmann::json::parse(plan.text()).at("plan"), names);
  return names;
}

void OnPathMeasurement::measure(OnPathCellFigures& cell) {
  const std::string sql = on_path_query(ensure_on_path_tables(folder_, cell.cell.data));
  BenchRanks& ranks = ranks_with(cell.cell.link_limit);
  cell.is_on_cpu = ranks.is_on_cpu();
  std::unique_ptr<Session> session = ranks.open_session("");
  for (const OnPathVariant& variant : sweep_.variants) cell.variants.push_back({variant});
  std::vector<std::vector<std::string>> steps;
  for (const OnPathVariant& variant : sweep_.variants) {
    ranks.assign(*session, variant.settings);
    steps.push_back(steps_of(ranks, *session, sql));
  }
  std::mt19937 random(1);
  std::vector<size_t> order(sweep_.variants.size());
  std::iota(order.begin(), order.end(), 0);
  for (int64_t round = -1; round < sweep_.repeat; ++round) {  // the first round warms up
    std::shuffle(order.begin(), order.end(), random);
    for (size_t i : order) {
      ranks.assign(*session, sweep_.variants[i].settings);
      OnlyValue distinct;
      ranks.run(*session, sql, distinct);
      ENSURE_EQ(cell.distinct.value_or(distinct.number()), distinct.number());
      cell.distinct = distinct.number();
      if (round >= 0) cell.variants[i].runs.push_back(on_path_run(steps[i], *session->profile(), ranks.threads()));
    }
  }
}

}  // namespace pistachio
