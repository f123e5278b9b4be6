#include "frontend/bench/on_path_model.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace pistachio {
namespace {

constexpr int64_t kMebi = int64_t{1} << 20;

OnPathData published(int64_t tuples, double uniqueness) {
  return {.model = KeyModel::Disjoint, .key_bits = 32, .tuples = tuples, .uniqueness = uniqueness};
}

// Rows that the published system sent and returned, in millions.
TEST(OnPathModelTest, DisjointModelMatchesPublishedCounts) {
  struct Published {
    int64_t tuples;
    double uniqueness;
    double sent;
    double distinct;
  };
  for (const Published& row : {Published{16 * kMebi, 0.01, 0.7, 0.3}, Published{16 * kMebi, 0.1, 6.7, 3.4},
                               Published{16 * kMebi, 1.0, 42.4, 29.0}, Published{128 * kMebi, 0.4, 197, 106.6}}) {
    OnPathData data = published(row.tuples, row.uniqueness);
    // The published counts are rounded to 0.1 million.
    EXPECT_NEAR(expected_rows(data, DedupeAt::SenderHost) / 1e6, row.sent, row.sent > 100 ? 0.5 : 0.06);
    EXPECT_NEAR(expected_keys(data).in_all / 1e6, row.distinct, 0.06);
    EXPECT_EQ(expected_rows(data, DedupeAt::SinkOnly), static_cast<double>(4 * row.tuples));
  }
}

TEST(OnPathModelTest, DisjointRangesLeaveNothingForTheHost) {
  OnPathData data = published(kMebi, 0.3);
  EXPECT_DOUBLE_EQ(expected_rows(data, DedupeAt::SenderHost), expected_rows(data, DedupeAt::SenderRank));
  EXPECT_EQ(data.first_key(1) - data.first_key(0), data.range());
}

TEST(OnPathModelTest, OverlappingRangesAreHalvedByTwoRanks) {
  OnPathData data{.model = KeyModel::Overlap, .key_bits = 64, .tuples = kMebi, .uniqueness = 0.05};
  EXPECT_NEAR(expected_bytes(data, DedupeAt::SenderHost) / expected_bytes(data, DedupeAt::SenderRank), 0.5, 1e-6);
  EXPECT_NEAR(expected_bytes(data, DedupeAt::SenderHost), 2 * 8 * 0.05 * kMebi, 20);
  EXPECT_GT(data.first_key(0), int64_t{1} << 32);
  EXPECT_EQ(data.first_key(1), data.first_key(0));
}

TEST(OnPathModelTest, ExpectationsMatchDraws) {
  constexpr int64_t kTuples = 30'000;
  for (const KeyModelName& known : kKeyModels) {
    for (double uniqueness : {0.02, 0.5, 1.0}) {
      OnPathData data{.model = known.model, .key_bits = 32, .tuples = kTuples, .uniqueness = uniqueness};
      std::mt19937_64 random(5);
      auto uniform = [&] { return std::uniform_real_distribution<double>(0, 1)(random); };
      ZipfNumbers zipf(data.range());
      std::set<int64_t> of_host;
      size_t of_ranks = 0;
      for (int place = 0; place < data.ranks_per_host; ++place) {
        std::set<int64_t> of_rank;
        for (int64_t i = 0; i < kTuples; ++i) {
          int64_t number = known.model == KeyModel::Zipf ? zipf.draw(uniform) - 1
                                                         : static_cast<int64_t>(uniform() * static_cast<double>(data.range()));
          of_rank.insert(data.first_key(place) + number);
        }
        of_ranks += of_rank.size();
        of_host.insert(of_rank.begin(), of_rank.end());
      }
      ExpectedKeys expected = expected_keys(data);
      EXPECT_NEAR(static_cast<double>(of_ranks) / 2, expected.per_rank, 0.02 * expected.per_rank) << known.name << uniqueness;
      EXPECT_NEAR(static_cast<double>(of_host.size()), expected.per_host, 0.02 * expected.per_host) << known.name << uniqueness;
    }
  }
}

TEST(OnPathModelTest, ZipfDrawsHaveHarmonicFrequencies) {
  constexpr int64_t kCount = 8;
  constexpr int64_t kDraws = 200'000;
  ZipfNumbers zipf(kCount);
  std::mt19937_64 random(9);
  std::vector<double> times(kCount + 1);
  for (int64_t i = 0; i < kDraws; ++i) times[zipf.draw([&] { return std::uniform_real_distribution<double>(0, 1)(random); })] += 1;
  EXPECT_EQ(times[0], 0);
  for (int64_t key = 2; key <= kCount; ++key) EXPECT_NEAR(times[1] / times[key], static_cast<double>(key), 0.05 * static_cast<double>(key));
  EXPECT_EQ(ZipfNumbers(1).draw([] { return 0.7; }), 1);
}

TEST(OnPathModelTest, BlocksApproximateZipfOfManyKeys) {
  // 20,000 keys: most of them in blocks. All are drawn if there are very many draws.
  OnPathData data{.model = KeyModel::Zipf, .key_bits = 32, .tuples = 20'000, .uniqueness = 1};
  data.source_hosts = 100'000;
  EXPECT_NEAR(expected_keys(data).in_all, 20'000, 1);
}

}  // namespace
}  // namespace pistachio
