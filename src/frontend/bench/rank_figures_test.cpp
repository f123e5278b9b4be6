#include "frontend/bench/rank_figures.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace pistachio {
namespace {

// Two ranks: 600 and 200 bytes read, 40 and 90 received, 2 s and 4 s of work.
QueryProfile example(double seconds) {
  QueryProfile profile;
  profile.seconds = seconds;
  profile.ranks.resize(2);
  profile.ranks[0].bytes_read = 600;
  profile.ranks[1].bytes_read = 200;
  profile.ranks[0].steps[0].bytes_received = 40;
  profile.ranks[1].steps[0].bytes_received = 90;
  profile.ranks[0].steps[0].nanoseconds = 2'000'000'000;
  profile.ranks[1].steps[1].nanoseconds = 4'000'000'000;
  return profile;
}

TEST(RankFiguresTest, RunHasFiguresOfBusiestRank) {
  RunFigures run = figures_of(example(7), 2);
  EXPECT_EQ(run.seconds, 7);
  EXPECT_EQ(run.bytes_read, 800);
  EXPECT_EQ(run.bytes_received, 90);
  EXPECT_EQ(run.core_seconds, 2);
}

TEST(RankFiguresTest, PhaseIsTimeOfResourceAlone) {
  RunFigures run = figures_of(example(7), 1);
  Phases phases = phases_of(run, {.storage = 100, .link = 30}, 2);
  EXPECT_EQ(phases.storage, 4);
  EXPECT_EQ(phases.link, 3);
  EXPECT_EQ(phases.cores, 4);
  EXPECT_EQ(phases.sum(), 11);
  EXPECT_EQ(phases.longest(), 4);
  EXPECT_EQ(phases.possible_gain(), 11.0 / 4);
  Phases unknown = phases_of({}, {}, 2);
  EXPECT_FALSE(unknown.storage || unknown.link || unknown.cores);
  EXPECT_EQ(unknown.possible_gain(), 1);
}

TEST(RankFiguresTest, VariantIsMedianOfItsRuns) {
  VariantFigures figures("case", "variant", 2);
  for (double seconds : {9.0, 5.0, 6.0}) {
    QueryProfile profile = example(seconds);
    profile.bandwidths = {.storage = 100, .link = 30};
    figures.add(profile, 1);
  }
  EXPECT_EQ(figures.t(), 6);
  EXPECT_EQ(figures.t_min, 4);
  EXPECT_EQ(figures.ratio(), 1.5);
  EXPECT_EQ(figures.link_use(), 0.5);
  EXPECT_EQ(median({1, 2}), 1.5);
}

TEST(RankFiguresTest, GainsAreRelativeToFirstVariant) {
  std::vector<VariantFigures> figures = {{"a", "slow", 2}, {"a", "fast", 2}, {"b", "slow", 2}, {"b", "fast", 2}};
  double seconds[] = {8, 2, 9, 3};
  for (size_t i = 0; i < figures.size(); ++i) figures[i].seconds = {seconds[i]};
  EXPECT_EQ(gains(figures), (std::vector<std::optional<double>>{1, 4, 1, 3}));
  figures[0].seconds = {};  // interrupted before its first run
  figures[3].seconds = {};
  EXPECT_EQ(gains(figures), (std::vector<std::optional<double>>{std::nullopt, std::nullopt, 1, std::nullopt}));
}

TEST(RankFiguresTest, LimitsBalanceTheResources) {
  RunFigures free{.seconds = 1, .bytes_read = 8'000, .bytes_received = 1'000, .core_seconds = 0.5};
  for (Balance how : {Balance::All, Balance::InputOutput}) {
    BalancedLimits limits = balance(how, free, 2);
    Phases phases = phases_of(free, {.storage = static_cast<double>(limits.storage), .link = static_cast<double>(limits.link)}, 2);
    EXPECT_NEAR(*phases.storage, limits.seconds, limits.seconds / 100);
    EXPECT_NEAR(*phases.link, limits.seconds, limits.seconds / 100);
    EXPECT_EQ(how == Balance::All, *phases.cores >= limits.seconds);
  }
  EXPECT_THROW(balance(Balance::All, {.seconds = 1, .bytes_read = 5}, 2), UserError);
  EXPECT_THROW(balance(Balance::All, {.seconds = 1, .bytes_received = 5}, 2), UserError);
}

}  // namespace
}  // namespace pistachio
