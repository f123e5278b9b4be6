#include "exec/adaptive/bucket_help.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "base/scheduler.h"
#include "base/task_group.h"
#include "kernels/ops/tensor_functions.h"
#include "network/control_exchange.h"

namespace pistachio {
namespace {

using Buckets = BucketHelp::Buckets;
constexpr int kRanks = 3;
constexpr int64_t kFirstRows = 1000;
constexpr int64_t kHeavy = 900;  // a bucket of the last rank
constexpr int kOwner = 2;

int64_t count_of(const Buckets& buckets) {
  return std::count(buckets.begin(), buckets.end(), true);
}

std::vector<int64_t> loads_with(int64_t bucket, int64_t rows) {
  std::vector<int64_t> loads(kBuckets, 10);
  loads[static_cast<size_t>(bucket)] = rows;
  return loads;
}

TEST(BucketHelpTest, HeaviestBucketsOfOverloadedRankAreChosen) {
  Buckets settled(kBuckets);
  std::string even = BucketHelp::note_of(std::vector<int64_t>(kBuckets, 10), false);
  EXPECT_EQ(count_of(BucketHelp::choose({even, even, even}, settled, kRanks)), 0);
  std::string skewed = BucketHelp::note_of(loads_with(kHeavy, 9000), true);
  Buckets chosen = BucketHelp::choose({even, skewed, even}, settled, kRanks);
  EXPECT_EQ(count_of(chosen), 1);
  EXPECT_TRUE(chosen[kHeavy]);
  settled[kHeavy] = true;
  EXPECT_EQ(count_of(BucketHelp::choose({even, skewed, even}, settled, kRanks)), 0);
  // Heavy buckets that even out among the ranks need no help.
  std::vector<int64_t> each(kBuckets, 10);
  for (int64_t bucket : {5, 505, 905}) each[static_cast<size_t>(bucket)] = 9000;
  EXPECT_EQ(count_of(BucketHelp::choose({BucketHelp::note_of(each, false)}, Buckets(kBuckets), kRanks)), 0);
  EXPECT_TRUE(BucketHelp::is_last(skewed));
  EXPECT_FALSE(BucketHelp::is_last(even));
}

// A join with one build row per bucket, whose value is the bucket's number.
class OneRowForEachBucket : public BucketHelp::Join {
 public:
  std::optional<Chunk> build_rows(const Buckets& buckets, int64_t) override {
    if (refuses) return std::nullopt;
    std::vector<int64_t> numbers;
    for (int64_t bucket = 0; bucket < kBuckets; ++bucket) {
      if (buckets[static_cast<size_t>(bucket)]) numbers.push_back(bucket);
    }
    auto rows = static_cast<int64_t>(numbers.size());
    return Chunk({Column::fixed(TypeKind::BigInt, at::tensor(numbers))}, rows);
  }
  void take_over(const Buckets& buckets, std::vector<Chunk> rows) override {
    if (has_no_memory) throw OutOfMemory("none");
    taken = buckets;
    for (const Chunk& chunk : rows) values.push_back(chunk.column(0).values().clone());
  }

  bool refuses = false;
  bool has_no_memory = false;
  Buckets taken;
  std::vector<at::Tensor> values;
};

class BucketHelpOfRanksTest : public testing::Test {
 protected:
  BucketHelpOfRanksTest() {
    for (int rank = 0; rank < kRanks; ++rank) {
      ranks_.push_back(std::make_unique<SharedBuckets>(rank, kRanks, kFirstRows));
      auto deliver = [this, rank](int other, uint32_t topic, const std::string& note) {
        notes_[static_cast<size_t>(other)]->on_note(rank, topic, note);
      };
      notes_.push_back(std::make_unique<ControlExchange>(rank, kRanks, BucketHelp::kTopics, deliver));
      joins_.push_back(std::make_unique<OneRowForEachBucket>());
      ranks_.back()->help.begin(Buckets(kBuckets));
      ranks_.back()->spread.decide(Buckets(kBuckets));
    }
  }

  BucketHelp& help(int rank) { return ranks_[static_cast<size_t>(rank)]->help; }
  OneRowForEachBucket& join(int rank) { return *joins_[static_cast<size_t>(rank)]; }
  int64_t owner(int rank, int64_t bucket) { return help(rank).owners().const_data_ptr<int64_t>()[bucket]; }
  void begin_joins() {
    for (int rank = 0; rank < kRanks; ++rank) help(rank).join_begins(join(rank));
  }
  void send(int rank, int64_t bucket, int64_t rows) { help(rank).count(at::full({rows}, bucket, at::kLong)); }

  void run_all(std::vector<Task<void>> all = {}) {
    for (int rank = 0; rank < kRanks; ++rank)
      all.push_back(help(rank).run(ranks_[static_cast<size_t>(rank)]->spread, *notes_[static_cast<size_t>(rank)], 0));
    CancelSource watchdog({}, std::chrono::steady_clock::now() + std::chrono::seconds(60));
    scheduler_.run(when_all(std::move(all)), watchdog.token());
  }

  Scheduler scheduler_{{.workers = 2, .blocking_threads = 1, .on_worker_start = {}}};
  std::vector<std::unique_ptr<SharedBuckets>> ranks_;
  std::vector<std::unique_ptr<ControlExchange>> notes_;
  std::vector<std::unique_ptr<OneRowForEachBucket>> joins_;
};

TEST_F(BucketHelpOfRanksTest, OthersTakeOverHeavyBucketAndBuildRows) {
  begin_joins();
  for (int rank = 0; rank < kRanks; ++rank) send(rank, kHeavy, kFirstRows);
  // The rows reach the first round only; the end of the input ends the others.
  auto end_after_the_first_round = [&]() -> Task<void> {
    while (owner(0, kHeavy) != 0 || owner(1, kHeavy) != 1) co_await reschedule();
    for (int rank = 0; rank < kRanks; ++rank) help(rank).end_of_rows();
  };
  std::vector<Task<void>> beside;
  beside.push_back(end_after_the_first_round());
  run_all(std::move(beside));
  EXPECT_EQ(owner(kOwner, kHeavy), kOwner);
  for (int rank : {0, 1}) {
    EXPECT_EQ(owner(rank, kHeavy + 1), kOwner);
    EXPECT_EQ(count_of(join(rank).taken), 1);
    EXPECT_TRUE(join(rank).taken[kHeavy]);
    ASSERT_EQ(join(rank).values.size(), 1u);
    EXPECT_TRUE(join(rank).values[0].equal(at::tensor({kHeavy})));
  }
  EXPECT_TRUE(join(kOwner).taken.empty());
}

TEST_F(BucketHelpOfRanksTest, TooManyBuildRowsPreventTakeover) {
  begin_joins();
  join(kOwner).refuses = true;
  for (int rank = 0; rank < kRanks; ++rank) send(rank, kHeavy, kFirstRows << 4);
  run_all();
  for (int rank = 0; rank < kRanks; ++rank) EXPECT_EQ(owner(rank, kHeavy), kOwner);
}

TEST_F(BucketHelpOfRanksTest, RankWithoutMemoryKeepsSending) {
  begin_joins();
  join(0).has_no_memory = true;
  for (int rank = 0; rank < kRanks; ++rank) send(rank, kHeavy, kFirstRows << 4);
  run_all();
  EXPECT_EQ(owner(0, kHeavy), kOwner);
  EXPECT_EQ(owner(1, kHeavy), 1);
}

TEST_F(BucketHelpOfRanksTest, JoinThatNeverRunsBlocksNoRank) {
  for (int rank : {0, 1}) help(rank).join_begins(join(rank));
  help(kOwner).join_ends();
  for (int rank = 0; rank < kRanks; ++rank) send(rank, kHeavy, kFirstRows << 4);
  run_all();
  for (int rank = 0; rank < kRanks; ++rank) EXPECT_EQ(owner(rank, kHeavy), kOwner);
}

TEST_F(BucketHelpOfRanksTest, EarlyEndOfInputEndsHelp) {
  for (int rank = 0; rank < kRanks; ++rank) help(rank).end_of_rows();
  run_all();
}

}  // namespace
}  // namespace pistachio
