#include "network/link_survey.h"

#include <gtest/gtest.h>

#include <future>

#include "base/error.h"
#include "network/loopback_transport.h"

namespace pistachio {
namespace {

using Pairs = std::vector<std::pair<int, int>>;

TEST(LinkSurveyTest, OnePairOfRanksRepresentsItsHosts) {
  EXPECT_EQ(links_between({}), Pairs{});
  EXPECT_EQ(links_between({0}), Pairs{});
  EXPECT_EQ(links_between({0, 0, 0}), (Pairs{{0, 1}}));
  EXPECT_EQ(links_between({0, 1}), (Pairs{{0, 1}, {1, 0}}));
  // Two hosts with two ranks each: internal link and link to the other host, for both.
  EXPECT_EQ(links_between({0, 1, 0, 1}), (Pairs{{0, 2}, {0, 1}, {1, 3}, {1, 0}}));
  EXPECT_EQ(links_between({0, 1, 2, 2}), (Pairs{{0, 1}, {1, 2}, {2, 3}, {2, 0}}));
}

TEST(LinkSurveyTest, SlowestLinkDecides) {
  std::vector<MeasuredLink> links = {{0, 1, "", {{4, 10}, {16, 100}, {64, 100}}}, {1, 0, "", {{4, 5}, {16, 20}, {64, 60}}}};
  EXPECT_EQ(message_bytes_for(links), 64);
  EXPECT_EQ(slowest_speed(links), 60);
  EXPECT_EQ(message_bytes_for({}), 0);
  EXPECT_EQ(slowest_speed({}), 0);
}

// Routes messages as a rank does, without queries.
class SurveyedRank final : public MessageReceiver {
 public:
  SurveyedRank(Transport& transport, std::vector<int> hosts)
      : survey(transport, {.hosts = std::move(hosts),
                           .route = [rank = transport.rank()](int to) { return std::to_string(rank) + " to " + std::to_string(to); },
                           .largest_message = 1 << 20}) {
    transport.start(*this);
  }
  void on_message(int source, Message message) noexcept override {
    ++messages;
    survey.take(source, message);
  }
  void on_peer_lost(int peer, std::string why) noexcept override { survey.on_peer_lost(peer, why); }

  LinkSurvey survey;
  std::atomic<int> messages = 0;
};

class LinkSurveyRunTest : public testing::Test {
 protected:
  void start(std::vector<int> hosts) {
    network = std::make_unique<LoopbackNetwork>(static_cast<int>(hosts.size()));
    for (int rank = 0; rank < static_cast<int>(hosts.size()); ++rank)
      ranks.push_back(std::make_unique<SurveyedRank>(network->transport(rank), hosts));
  }
  void TearDown() override {
    for (auto& rank : ranks) rank->survey.stop();
    for (int rank = 0; rank < static_cast<int>(ranks.size()); ++rank) network->transport(rank).stop();
  }

  std::unique_ptr<LoopbackNetwork> network;
  std::vector<std::unique_ptr<SurveyedRank>> ranks;
};

TEST_F(LinkSurveyRunTest, LinksAreMeasuredOnceByTheirSource) {
  start({0, 0, 1});
  EXPECT_TRUE(ranks[0]->survey.known().empty());
  std::vector<MeasuredLink> links = ranks[0]->survey.measure({});
  ASSERT_EQ(links.size(), 3u);
  EXPECT_EQ(links[0].route, "0 to 1");
  EXPECT_EQ(links[1].route, "0 to 2");
  EXPECT_EQ(links[2].route, "2 to 0");
  EXPECT_EQ(links[2].from, 2);
  EXPECT_EQ(links[2].to, 0);
  for (const MeasuredLink& link : links) {
    ASSERT_FALSE(link.speeds.empty());
    EXPECT_EQ(link.speeds.front().message_bytes, LinkCalibrator::kSmallestMessage);
  }
  EXPECT_EQ(ranks[0]->survey.known().size(), 3u);
  int messages = ranks[0]->messages;
  EXPECT_EQ(ranks[0]->survey.measure({}).size(), 3u);
  EXPECT_EQ(ranks[0]->messages, messages);
}

TEST_F(LinkSurveyRunTest, LostRankIsAnError) {
  start({0, 1});
  network->hold(0, 1, true);
  auto measured = std::async(std::launch::async, [&] { return ranks[0]->survey.measure({}); });
  network->lose(1);
  EXPECT_THROW(measured.get(), PeerError);
}

TEST_F(LinkSurveyRunTest, CancelledMeasurementCanBeRepeated) {
  start({0, 1});
  network->hold(1, 0, true);
  CancelSource source;
  auto measured = std::async(std::launch::async, [&] { return ranks[0]->survey.measure(source.token()); });
  source.cancel("enough");
  EXPECT_THROW(measured.get(), Cancelled);
  CancelSource late({}, std::chrono::steady_clock::now() + std::chrono::milliseconds(1));
  EXPECT_THROW(ranks[0]->survey.measure(late.token()), Cancelled);
  network->hold(1, 0, false);
  EXPECT_EQ(ranks[0]->survey.measure({}).size(), 2u);
}

TEST_F(LinkSurveyRunTest, ForeignMessagesAreIgnored) {
  start({0, 1});
  Message other{1, "", {}};
  EXPECT_FALSE(ranks[0]->survey.take(1, other));
  Message damaged{LinkSurvey::kMeasureKind, "x", {}};
  EXPECT_THROW(ranks[0]->survey.take(1, damaged), PeerError);
}

}  // namespace
}  // namespace pistachio
