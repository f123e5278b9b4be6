#include "network/incoming_delivery.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pistachio {
namespace {

// Records what reaches it.
class EventNotes final : public MessageReceiver {
 public:
  void on_message(int source, Message message) noexcept override {
    notes.push_back(std::to_string(source) + " sends " + message.head);
  }
  void on_peer_lost(int peer, std::string why) noexcept override { notes.push_back(std::to_string(peer) + " is lost: " + why); }
  void on_peer_replaced(const RankInfo& peer) noexcept override { notes.push_back(std::to_string(peer.rank) + " is back"); }

  std::vector<std::string> notes;
};

TEST(IncomingDeliveryTest, EventsWaitInOrderForAReceiver) {
  MessageTrace trace;
  IncomingDelivery delivery(/*own_rank=*/0, /*bandwidth_limit=*/0, trace);
  const auto now = std::chrono::steady_clock::now();
  delivery.add_message(1, Message{7, "a", {}}, now);
  delivery.add_loss(2, "gone");
  RankInfo info;
  info.rank = 2;
  delivery.add_replacement(info);
  EventNotes receiver;
  delivery.set_receiver(&receiver);
  EXPECT_TRUE(receiver.notes.empty());
  delivery.hand_over_kept();
  delivery.add_message(2, Message{7, "b", {}}, now);
  EXPECT_EQ(receiver.notes, (std::vector<std::string>{"1 sends a", "2 is lost: gone", "2 is back", "2 sends b"}));
  EXPECT_EQ(delivery.messages(), 2);
}

TEST(IncomingDeliveryTest, ClosedDeliveryReachesNoReceiver) {
  MessageTrace trace;
  IncomingDelivery delivery(/*own_rank=*/0, /*bandwidth_limit=*/0, trace);
  EventNotes receiver;
  delivery.set_receiver(&receiver);
  delivery.close();
  delivery.add_message(1, Message{7, "a", {}}, std::chrono::steady_clock::now());
  delivery.hand_over_kept();
  EXPECT_TRUE(receiver.notes.empty());
  EXPECT_EQ(delivery.next_due(), IncomingDelivery::TimePoint::max());
}

}  // namespace
}  // namespace pistachio
