#include "frontend/cli/on_path_sweep.h"

#include <gtest/gtest.h>

namespace pistachio {
namespace {

OnPathSweep sweep_of(std::vector<std::string> words, int64_t cores = 12) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  Settings settings;
  CommandArguments arguments(static_cast<int>(pointers.size()), pointers.data(), on_path_options(), settings);
  return on_path_sweep(arguments, settings, cores);
}

TEST(OnPathSweepTest, DefaultIsTheSmallSweep) {
  OnPathSweep sweep = sweep_of({});
  EXPECT_EQ(sweep.cells.size(), 3 * 3 * 3U);
  EXPECT_EQ(sweep.ranks(), 5);
  EXPECT_EQ(sweep.hosts(), "1,2,2");
  EXPECT_EQ(sweep.repeat, 5);
  EXPECT_EQ(sweep.variants.size() + sweep.skipped.size(), 4U);
  EXPECT_EQ(sweep.variants[0].name, "none");
  EXPECT_EQ(sweep.variants[2].dedupes, DedupeAt::SenderHost);
}

TEST(OnPathSweepTest, CellsCombineAllValuesLimitsOutermost) {
  OnPathSweep sweep =
      sweep_of({"--tuples", "1000,64Ki,2Mi", "--uniqueness", "0.5,1", "--models", "zipf", "--keys", "64,32", "--limits", "25,off"});
  ASSERT_EQ(sweep.cells.size(), 2 * 2 * 3 * 2U);
  EXPECT_EQ(sweep.cells.front().gigabits, 25);
  EXPECT_EQ(sweep.cells.front().data.key_bits, 64);
  EXPECT_EQ(sweep.cells.front().data.tuples, 1000);
  EXPECT_EQ(sweep.cells[2].data.tuples, 65536);
  EXPECT_EQ(sweep.cells.back().gigabits, std::nullopt);
  EXPECT_EQ(sweep.cells.back().link_limit, 0);
  EXPECT_EQ(sweep.cells.back().data.tuples, 2 << 20);
}

TEST(OnPathSweepTest, LinksKeepTheirBandwidthPerCore) {
  // 12 cores for 3 hosts are half as many per host as published: 10 Gbit/s become 5.
  EXPECT_EQ(sweep_of({"--limits", "10"}).cells[0].link_limit, 625'000'000);
  // A thread for each of two ranks: a quarter.
  EXPECT_EQ(sweep_of({"--limits", "10", "-s", "threads=1"}).cells[0].link_limit, 312'500'000);
  EXPECT_EQ(sweep_of({"--limits", "10", "--scale", "0.01"}).cells[0].link_limit, 12'500'000);
}

TEST(OnPathSweepTest, WrongValuesAreUsageErrors) {
  const std::vector<std::vector<std::string>> wrong = {
      {"--tuples", "0"},     {"--tuples", "1Gi"},     {"--tuples", "512Mi"},       {"--tuples", "many"},  {"--tuples", ","},
      {"--uniqueness", "0"}, {"--uniqueness", "1.1"}, {"--uniqueness", "nan"},     {"--models", "gauss"}, {"--keys", "16"},
      {"--limits", "-1"},    {"--limits", "fast"},    {"--scale", "0"},            {"--variants", "maybe"}, {"--repeat", "0"},
      {"--ranks-per-host", "1"}, {"--ranks-per-host", "99"}, {"--ranks-per-host", "16", "--tuples", "256Mi"}, {"--threads", "2"}};
  for (const std::vector<std::string>& words : wrong) EXPECT_THROW(sweep_of(words), UsageError) << words[0] << " " << words[1];
}

}  // namespace
}  // namespace pistachio
