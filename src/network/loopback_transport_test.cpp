#include "network/loopback_transport.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "network/message_collector.h"

namespace pistachio {
namespace {

using namespace std::chrono_literals;

// transport_test.cpp covers all transports; these tests are specific to loopback.
TEST(LoopbackTransportTest, SenderAndReceiverShareNoMemory) {
  MessageCollector receiver;
  LoopbackNetwork network(2);
  network.transport(1).start(receiver);
  at::Tensor payload = numbered_bytes(1000);
  network.transport(0).send(1, {7, "head", payload});
  MessageCollector::Received got = receiver.wait_for_messages(1).front();
  EXPECT_NE(got.message.payload.const_data_ptr(), payload.const_data_ptr());
  EXPECT_TRUE(got.message.payload.equal(payload));
}

TEST(LoopbackTransportTest, HeldLinkDelaysOnlyItsMessages) {
  MessageCollector one, two;
  LoopbackNetwork network(3);
  network.transport(1).start(one);
  network.transport(2).start(two);
  network.hold(0, 1, true);
  SentCounter sent;
  network.transport(0).send(1, {7, "kept back", {}}, sent.callback());
  network.transport(0).send(2, {7, "goes", {}});
  two.wait_for_messages(1);
  EXPECT_EQ(one.messages().size(), 0u);
  EXPECT_EQ(sent.ended(), 0);
  network.hold(0, 1, false);
  EXPECT_EQ(one.wait_for_messages(1).front().message.head, "kept back");
  EXPECT_EQ(sent.wait_for(1), 1);
}

TEST(LoopbackTransportTest, LostRankAndOthersLoseEachOther) {
  std::vector<MessageCollector> receivers(3);
  LoopbackNetwork network(3);
  for (int rank = 0; rank < 3; ++rank) network.transport(rank).start(receivers[rank]);
  network.hold(0, 1, true);
  SentCounter sent;
  network.transport(0).send(1, {7, "held when the rank vanishes", {}}, sent.callback());
  network.lose(1);
  network.transport(0).send(1, {7, "to nobody", {}}, sent.callback());
  network.transport(1).send(0, {7, "from nobody", {}});
  sent.wait_for(2);
  EXPECT_EQ(sent.failed(), 2);
  EXPECT_EQ(receivers[0].wait_for_lost(1).front().first, 1);
  EXPECT_EQ(receivers[2].wait_for_lost(1).front().first, 1);
  EXPECT_EQ(receivers[1].wait_for_lost(2).size(), 2u);
  network.transport(0).send(2, {7, "the others go on", {}});
  receivers[2].wait_for_messages(1);
  EXPECT_EQ(receivers[0].messages().size(), 0u);
}

TEST(LoopbackTransportTest, SendsToALostRankFailBeforeStart) {
  MessageCollector receiver;
  LoopbackNetwork network(2);
  network.lose(1);
  SentCounter sent;
  network.transport(0).send(1, {7, "to nobody", {}}, sent.callback());
  sent.wait_for(1);
  EXPECT_EQ(sent.failed(), 1);
  network.transport(0).start(receiver);
  EXPECT_NE(receiver.wait_for_lost(1).front().second.find("rank 1"), std::string::npos);
}

TEST(LoopbackTransportTest, RandomDelaysReorderButLoseNothing) {
  constexpr int kMessages = 500;
  MessageCollector receiver;
  LoopbackNetwork network(2, {.largest_delay = 2ms, .seed = 42});
  network.transport(1).start(receiver);
  SentCounter sent;
  for (int i = 0; i < kMessages; ++i) network.transport(0).send(1, {7, std::to_string(i), {}}, sent.callback());
  sent.wait_for(kMessages);
  network.transport(0).stop();  // a leaving rank revokes no messages
  std::vector<int> order;
  for (const auto& [source, message] : receiver.wait_for_messages(kMessages)) order.push_back(std::stoi(message.head));
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  for (int i = 0; i < kMessages; ++i) EXPECT_EQ(order[i], i);
  EXPECT_EQ(receiver.wait_for_lost(1).front().second, "rank 0 has left the job");
}

}  // namespace
}  // namespace pistachio
