// Measures queries on ranks of this machine: starts the ranks, runs variants of a query by turns and keeps the figures that the engine's
// own profile gives. Used by one thread.
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

// Variants that answer the same question.
struct BenchCase {
  std::string title;
  std::string folder;  // its tables; empty: the queries name their files
  std::vector<BenchVariant> variants;
};

// Ranks of this machine, this process the first of them. They end with it.
class BenchRanks {
 public:
  BenchRanks(int ranks, const Settings& settings, InterruptWatcher& interrupts);

  // What a query did; its rows go nowhere.
  std::shared_ptr<const QueryProfile> run(Session& session, const std::string& sql);
  std::unique_ptr<Session> open_session(const std::string& folder);
  int64_t threads() { return rank_->engine().settings().threads; }

 private:
  CancelToken token_;
  std::unique_ptr<RankJob> job_;
  std::unique_ptr<RankEngine> rank_;
};

// The words that give a command these settings, whatever its environment says.
std::vector<std::string> words_of_settings(const Settings& settings);

// Settings that a comparison of variants takes unless its user has said otherwise: one distribution, and nothing that would make variants
// differ in more than what they are about.
void assign_for_comparison(Settings& settings, const std::vector<std::string>& except = {});

struct BenchRun {
  int ranks = 2;
  int64_t repeat = 3;
  std::optional<Balance> balance;
};

// Runs the variants of a case in rounds, after one that warms up; the order changes from round to round and is the listed one in the last.
// With a balance the limits are chosen first, and said.
// `ranks` are kept for the next case as long as the settings stay the same.
class BenchMeasurement {
 public:
  BenchMeasurement(BenchRun run, Settings settings, InterruptWatcher& interrupts)
      : run_(run), settings_(std::move(settings)), interrupts_(interrupts) {}

  // Called with the place of a variant in `figures` after its last run.
  using Measured = std::function<void(size_t index)>;
  // Adds the figures of the variants, in their order. When it throws, `figures` has the runs so far.
  void measure(const BenchCase& what, std::vector<VariantFigures>& figures, const Measured& measured);

 private:
  BenchRanks& ranks_with(const Settings& settings);
  Settings balanced(const BenchCase& what);

  BenchRun run_;
  Settings settings_;
  InterruptWatcher& interrupts_;
  std::unique_ptr<BenchRanks> ranks_;
  std::vector<std::string> words_;  // that ranks_ were started with
};

}  // namespace pistachio
