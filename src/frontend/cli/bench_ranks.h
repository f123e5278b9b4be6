// Measures queries on ranks of this machine: starts the ranks, alternates between the variants of a query and collects the figures of the
// engine's own profile. Used by one thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontend/bench/rank_figures.h"
#include "frontend/cli/command_arguments.h"
#include "frontend/cli/interrupt_watcher.h"
#include "frontend/cli/rank_job.h"
#include "session/session.h"

namespace pistachio {

struct BenchVariant {
  std::string name;
  std::vector<std::pair<std::string, std::string>> settings;
  std::string sql;
};

// Variants of the same query.
struct BenchCase {
  std::string title;
  std::string folder;  // contains its tables; empty: the queries name their files
  std::vector<BenchVariant> variants;
};

// Ranks on this machine, this process being the first. The others end with it.
class BenchRanks {
 public:
  // `hosts`: the hosts that the ranks simulate (simulated_hosts.h); empty: none.
  BenchRanks(int ranks, const Settings& settings, InterruptWatcher& interrupts, const std::string& hosts = "");

  void assign(Session& session, const std::vector<std::pair<std::string, std::string>>& settings);
  // The profile of a query; its rows are discarded.
  std::shared_ptr<const QueryProfile> run(Session& session, const std::string& sql);
  // The same with its rows, also of a statement that is no query.
  void run(Session& session, const std::string& sql, ResultReceiver& receiver);
  std::unique_ptr<Session> open_session(const std::string& folder);
  int64_t threads() { return rank_->engine().settings().threads; }
  bool is_on_cpu() { return rank_->engine().device().is_cpu(); }

 private:
  CancelToken token_;
  std::unique_ptr<RankJob> job_;
  std::unique_ptr<RankEngine> rank_;
};

// Command-line words that set all of these settings, whatever the environment says.
std::vector<std::string> words_of_settings(const Settings& settings);

// Settings for comparing variants, unless the user chose otherwise: a fixed data distribution, and nothing that makes variants differ in
// anything but their subject.
void assign_for_comparison(Settings& settings, const std::vector<std::string>& except = {});

struct BenchRun {
  int ranks = 2;
  int64_t repeat = 3;
  std::optional<Balance> balance;
};

// Runs the variants of a case in rounds, after a warm-up round; the order is shuffled each round and as listed in the last. With a balance,
// the limits are determined and printed first.
// The ranks are reused for the next case as long as the settings stay the same.
class BenchMeasurement {
 public:
  BenchMeasurement(BenchRun run, Settings settings, InterruptWatcher& interrupts)
      : run_(run), settings_(std::move(settings)), interrupts_(interrupts) {}

  // Called with a variant's index in `figures` after its last run.
  using Measured = std::function<void(size_t index)>;
  // Appends the figures of the variants, in order. If it throws, `figures` has the runs so far.
  void measure(const BenchCase& what, std::vector<VariantFigures>& figures, const Measured& measured);

 private:
  BenchRanks& ranks_with(const Settings& settings);
  Settings balanced(const BenchCase& what);

  BenchRun run_;
  Settings settings_;
  InterruptWatcher& interrupts_;
  std::unique_ptr<BenchRanks> ranks_;
  std::vector<std::string> words_;  // settings that ranks_ were started with
};

}  // namespace pistachio
