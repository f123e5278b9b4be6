// A restarted rank, over every transport: the others switch to its new process and ignore the old one.
#include <gtest/gtest.h>

#include "network/job_of_transports.h"
#include "network/message_collector.h"

namespace pistachio {
namespace {

class ReplacementTest : public testing::TestWithParam<TransportKind> {
 protected:
  static constexpr int kRanks = 3;

  ReplacementTest() : receivers_(kRanks), job_(GetParam(), kRanks) {
    for (int rank = 0; rank < kRanks; ++rank) job_[rank].start(receivers_[static_cast<size_t>(rank)]);
  }
  ~ReplacementTest() override { job_.stop_all(); }

  // The head of the latest message, once `count` have arrived.
  std::string last_head(MessageCollector& receiver, size_t count) { return receiver.wait_for_messages(count).back().message.head; }

  // On all other ranks.
  void replace(const RankInfo& info) {
    for (int rank = 0; rank < kRanks; ++rank) {
      if (rank == info.rank) continue;
      job_[rank].replace(info);
      EXPECT_EQ(receivers_[static_cast<size_t>(rank)].wait_for_replaced(1).back().incarnation, info.incarnation);
    }
  }

  MessageCollector fresh_;  // of the new process
  std::vector<MessageCollector> receivers_;
  JobOfTransports job_;
};

INSTANTIATE_TEST_SUITE_P(Transports, ReplacementTest,
                         testing::Values(TransportKind::Loopback, TransportKind::UcxTcp, TransportKind::UcxSharedMemory), transport_name);

TEST_P(ReplacementTest, NewProcessSendsAndReceivesMessages) {
  job_[2].stop();
  for (int rank : {0, 1}) receivers_[static_cast<size_t>(rank)].wait_for_lost(1);
  RankInfo info = job_.restart(2);
  EXPECT_EQ(info.incarnation, 1);
  job_[2].start(fresh_);
  replace(info);
  for (int rank : {0, 1}) {
    job_[rank].send(2, {7, "to the new one from " + std::to_string(rank), numbered_bytes(3'000'000)});
    job_[2].send(rank, {7, "from the new one", numbered_bytes(3'000'000)});
    EXPECT_EQ(last_head(receivers_[static_cast<size_t>(rank)], 1), "from the new one");
  }
  EXPECT_EQ(fresh_.wait_for_messages(2).size(), 2u);
  // And once more.
  job_[2].stop();
  for (int rank : {0, 1}) receivers_[static_cast<size_t>(rank)].wait_for_lost(2);
}

TEST_P(ReplacementTest, LivePeerIsLostBeforeReplacement) {
  RankInfo info = job_.restart(2);
  job_[2].start(fresh_);
  replace(info);
  for (int rank : {0, 1}) EXPECT_EQ(receivers_[static_cast<size_t>(rank)].lost().size(), 1u);
  job_[0].send(2, {7, "to the new one", {}});
  EXPECT_EQ(last_head(fresh_, 1), "to the new one");
}

TEST_P(ReplacementTest, OutdatedReplacementIsIgnored) {
  RankInfo info = job_.restart(2);
  job_[2].start(fresh_);
  replace(info);
  job_[0].replace(info);
  RankInfo older = info;
  older.incarnation = 0;
  job_[0].replace(older);
  job_[0].send(2, {7, "still there", {}});
  EXPECT_EQ(last_head(fresh_, 1), "still there");
  EXPECT_EQ(receivers_[0].lost().size(), 1u);
}

TEST_P(ReplacementTest, PendingSendsToOldProcessFail) {
  job_[2].stop();
  receivers_[0].wait_for_lost(1);
  SentCounter sent;
  job_[0].send(2, {7, "to nobody", {}}, sent.callback());
  RankInfo info = job_.restart(2);
  job_[2].start(fresh_);
  replace(info);
  EXPECT_EQ(sent.wait_for(1), 1);
  EXPECT_EQ(sent.failed(), 1);
  job_[0].send(2, {7, "to somebody", {}}, sent.callback());
  EXPECT_EQ(last_head(fresh_, 1), "to somebody");
  EXPECT_EQ(sent.wait_for(2), 2);
  EXPECT_EQ(sent.failed(), 1);
}

// UCX only: there the old process may live on, like one that was stopped for long.
TEST_P(ReplacementTest, LateMessagesOfOldProcessAreDropped) {
  if (GetParam() == TransportKind::Loopback) GTEST_SKIP() << "the old one is stopped there";
  RankInfo info = job_.restart(2);
  job_[2].start(fresh_);
  replace(info);
  SentCounter late;
  for (int i = 0; i < 20; ++i) job_.replaced(0).send(0, {7, "late", numbered_bytes(i * 50'000)}, late.callback());
  late.wait_for(20);
  job_[2].send(0, {7, "new", {}});
  receivers_[0].wait_for_messages(1);
  job_[1].send(0, {7, "other", {}});
  for (const auto& [source, message] : receivers_[0].wait_for_messages(2)) EXPECT_NE(message.head, "late");
  // Its goodbye must not affect the new process.
  job_.replaced(0).stop();
  job_[0].send(2, {7, "still there", {}});
  EXPECT_EQ(last_head(fresh_, 1), "still there");
  EXPECT_EQ(receivers_[0].lost().size(), 1u);
}

}  // namespace
}  // namespace pistachio
