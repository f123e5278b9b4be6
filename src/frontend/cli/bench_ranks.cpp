#include "frontend/cli/bench_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "base/format_bytes.h"
#include "frontend/cli/simulated_hosts.h"
#include "parser/parse.h"
#include "session/ignored_result.h"

namespace pistachio {

namespace {

bool is_known(std::string_view name) {
  const std::vector<SettingDescription>& all = setting_descriptions();
  return std::any_of(all.begin(), all.end(), [&](const SettingDescription& setting) { return setting.name == name; });
}

RankJob::Options local_job(int ranks, const Settings& settings, const std::string& hosts) {
  RankJob::Options options{.identity = identity_of_local_job(ranks), .host = "", .others = {"pistachio", "cluster"}, .query_words = {}};
  if (!hosts.empty()) {
    options.host = simulated_host(hosts, 0, ranks);
    options.others.insert(options.others.end(), {"--hosts", hosts});
  }
  for (std::string& word : words_of_settings(settings)) options.others.push_back(std::move(word));
  return options;
}

}  // namespace

std::vector<std::string> words_of_settings(const Settings& settings) {
  std::vector<std::string> words;
  for (const SettingDescription& setting : setting_descriptions()) {
    std::string value = setting.show(settings);
    if (!value.empty()) words.insert(words.end(), {"-s", fmt::format("{}={}", setting.name, value)});
  }
  return words;
}

void assign_for_comparison(Settings& settings, const std::vector<std::string>& except) {
  constexpr std::pair<std::string_view, std::string_view> kChosen[] = {
      {"join_distribution", "repartition"}, {"network_compression", "off"}, {"join_filters", "off"}, {"spread_keys", "off"}};
  for (const auto& [name, value] : kChosen) {
    if (!is_known(name) || std::find(except.begin(), except.end(), name) != except.end()) continue;
    bool is_default = show_setting(settings, name) == show_setting(Settings(), name);
    if (is_default) assign_setting(settings, name, value);
  }
}

BenchRanks::BenchRanks(int ranks, const Settings& settings, InterruptWatcher& interrupts, const std::string& hosts)
    : token_(interrupts.token()),
      job_(std::make_unique<RankJob>(local_job(ranks, settings, hosts), settings, interrupts)),
      rank_(std::make_unique<RankEngine>(*job_, settings)) {}

std::unique_ptr<Session> BenchRanks::open_session(const std::string& folder) {
  auto session = std::make_unique<Session>(rank_->engine(), &rank_->ranks());
  if (!folder.empty()) session->add_folder(folder);
  return session;
}

void BenchRanks::assign(Session& session, const std::vector<std::pair<std::string, std::string>>& settings) {
  IgnoredResult ignored;
  for (const auto& [name, value] : settings) run(session, fmt::format("SET {} = '{}'", name, value), ignored);
}

void BenchRanks::run(Session& session, const std::string& sql, ResultReceiver& receiver) {
  for (ast::Statement& statement : parse_statements(sql))
    session.execute(std::make_shared<const ast::Statement>(std::move(statement)), receiver, token_);
}

std::shared_ptr<const QueryProfile> BenchRanks::run(Session& session, const std::string& sql) {
  IgnoredResult ignored;
  run(session, sql, ignored);
  std::shared_ptr<const QueryProfile> profile = session.profile();
  if (!profile) throw UserError("only a query can be benchmarked");
  return profile;
}

BenchRanks& BenchMeasurement::ranks_with(const Settings& settings) {
  std::vector<std::string> words = words_of_settings(settings);
  if (!ranks_ || words != words_) {
    ranks_.reset();  // before starting new ones: they share the machine
    ranks_ = std::make_unique<BenchRanks>(run_.ranks, settings, interrupts_);
    words_ = std::move(words);
  }
  return *ranks_;
}

// Variants differ in how they overlap work, hardly in its amount: the last one, the fastest, represents all.
Settings BenchMeasurement::balanced(const BenchCase& what) {
  Settings free = settings_;
  free.storage_bandwidth_limit = 0;
  free.link_bandwidth_limit = 0;
  BenchRanks& ranks = ranks_with(free);
  std::unique_ptr<Session> session = ranks.open_session(what.folder);
  const BenchVariant& variant = what.variants.back();
  ranks.assign(*session, variant.settings);
  ranks.run(*session, variant.sql);
  RunFigures least = figures_of(*ranks.run(*session, variant.sql), ranks.threads());
  for (int64_t i = 1; i < run_.repeat; ++i) {
    RunFigures again = figures_of(*ranks.run(*session, variant.sql), ranks.threads());
    least.core_seconds = std::min(least.core_seconds, again.core_seconds);
  }
  BalancedLimits limits = balance(*run_.balance, least, run_.ranks);
  fmt::print("{}: storage_bandwidth_limit={} and link_bandwidth_limit={}: each needs {:.3f} s, the cores {:.3f} s\n", what.title,
             limits.storage, limits.link, limits.seconds, least.core_seconds);
  std::fflush(stdout);
  Settings made = settings_;
  made.storage_bandwidth_limit = limits.storage;
  made.link_bandwidth_limit = limits.link;
  return made;
}

void BenchMeasurement::measure(const BenchCase& what, std::vector<VariantFigures>& figures, const Measured& measured) {
  Settings settings = run_.balance ? balanced(what) : settings_;
  BenchRanks& ranks = ranks_with(settings);
  std::unique_ptr<Session> session = ranks.open_session(what.folder);
  const size_t first = figures.size();
  for (const BenchVariant& variant : what.variants) {
    VariantFigures& own = figures.emplace_back(what.title, variant.name, run_.ranks);
    own.storage_limit = settings.storage_bandwidth_limit;
    own.link_limit = settings.link_bandwidth_limit;
  }
  std::mt19937 random(1);
  std::vector<size_t> order(what.variants.size());
  std::iota(order.begin(), order.end(), 0);
  for (int64_t round = -1; round < run_.repeat; ++round) {  // the first round warms up
    const bool is_last = round + 1 == run_.repeat;
    std::shuffle(order.begin(), order.end(), random);
    if (is_last) std::sort(order.begin(), order.end());
    for (size_t i : order) {
      ranks.assign(*session, what.variants[i].settings);
      std::shared_ptr<const QueryProfile> profile = ranks.run(*session, what.variants[i].sql);
      if (round >= 0) figures[first + i].add(*profile, ranks.threads());
      if (is_last) measured(first + i);
    }
  }
}

}  // namespace pistachio
