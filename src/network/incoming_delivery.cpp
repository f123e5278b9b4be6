#include "network/incoming_delivery.h"

#include <utility>

#include "network/link_pacing.h"
#include "network/message_limits.h"

namespace pistachio {

namespace {

// How far a receiver may run ahead of its limit: senders do not keep their pace to the microsecond, and catch up after a delay.
constexpr std::chrono::milliseconds kIncomingSlack{20};

}  // namespace

void IncomingDelivery::add_message(int source, Message message, TimePoint now) {
  int64_t payload = payload_bytes(message);
  Event event{source, std::move(message), {}, {}};
  bool is_limited = limit_.is_on() && payload > 0 && !exempt_.contains(source);
  if (!is_limited) return count_and_hand_over(std::move(event), now);
  event.held_since = Clock::now();
  held_.queue_for(payload).push_back(std::move(event));
  release_held(now);
}

// The limit applies to incoming bytes too: several ranks may send to this one at once, each within its own limit. As on the sending side,
// small messages alternate with large ones, since they report ends and cancel queries.
bool IncomingDelivery::release_held(TimePoint now) {
  bool any = false;
  while (next_due() <= Clock::now()) {
    Event event = std::move(held_.front());
    held_.end_turn(/*is_done=*/true);
    limit_.reserve(payload_bytes(event.message), given_to_link(event.held_since));
    count_and_hand_over(std::move(event), now);
    any = true;
  }
  return any;
}

IncomingDelivery::TimePoint IncomingDelivery::next_due() const {
  return held_.empty() ? TimePoint::max() : limit_.free_at() - kIncomingSlack;
}

void IncomingDelivery::drop_held(int peer) {
  held_.erase_if([&](const Event& event) { return event.peer == peer; });
}

void IncomingDelivery::count_and_hand_over(Event event, TimePoint now) {
  int64_t size = message_bytes(event.message);
  messages_.fetch_add(1, std::memory_order_relaxed);
  bytes_.fetch_add(size, std::memory_order_relaxed);
  trace_.record(MessageDirection::Received, event.peer, event.message.kind, size, now);
  hand_over(std::move(event));
}

void IncomingDelivery::hand_over(Event event) {
  if (receiver_ == nullptr) {
    kept_.push_back(std::move(event));
  } else if (event.replacement) {
    receiver_->on_peer_replaced(*event.replacement);
  } else if (!event.lost_because.empty()) {
    receiver_->on_peer_lost(event.peer, std::move(event.lost_because));
  } else {
    receiver_->on_message(event.peer, std::move(event.message));
  }
}

void IncomingDelivery::hand_over_kept() {
  if (receiver_ == nullptr || kept_.empty()) return;  // in every turn of the progress loop: even an empty deque allocates
  for (Event& event : std::exchange(kept_, {})) hand_over(std::move(event));
}

void IncomingDelivery::close() {
  receiver_ = nullptr;
  kept_.clear();
}

}  // namespace pistachio
