// What a transport has received, on its way to the receiver. Keeps events until there is a receiver; under a bandwidth limit, holds
// messages until the link could have carried them. Owned by UcxProgress and used by its thread alone (and by connect(), before that
// starts); any thread may read the counts. Memory: kept and held messages, which the windows of their senders bound.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>

#include "base/bandwidth_limit.h"
#include "network/fair_queues.h"
#include "network/message_trace.h"
#include "network/transport.h"

namespace pistachio {

class IncomingDelivery {
 public:
  using Clock = std::chrono::steady_clock;
  using TimePoint = Clock::time_point;

  // 0: no limit, in bytes per second. The trace outlives it.
  IncomingDelivery(int own_rank, int64_t bandwidth_limit, MessageTrace& trace)
      : limit_(bandwidth_limit), exempt_{own_rank}, trace_(trace) {}

  // Exempts messages of this rank from the limit.
  void exempt(int peer) { exempt_.insert(peer); }
  // `now` is the time that goes into the trace.
  void add_message(int source, Message message, TimePoint now);
  void add_loss(int peer, std::string why) { hand_over({peer, {}, std::move(why), {}}); }
  void add_replacement(const RankInfo& info) { hand_over({info.rank, {}, {}, info}); }
  // Messages of a lost peer that the limit holds never reach the receiver.
  void drop_held(int peer);

  // Hands over the messages that the limit no longer holds back. True if there were any.
  bool release_held(TimePoint now);
  // When the limit lets the next message pass; never if it holds none.
  TimePoint next_due() const;

  const MessageReceiver* receiver() const { return receiver_; }
  // Later events go to this receiver; those kept so far are delivered by hand_over_kept().
  void set_receiver(MessageReceiver* receiver) { receiver_ = receiver; }
  void hand_over_kept();
  // Nothing reaches the receiver any more.
  void close();

  int64_t messages() const { return messages_; }
  int64_t bytes() const { return bytes_; }

 private:
  struct Event {
    int peer = 0;
    Message message;
    std::string lost_because;             // not empty: no message
    std::optional<RankInfo> replacement;  // the same
    TimePoint held_since = {};            // by the limit
  };

  void count_and_hand_over(Event event, TimePoint now);
  void hand_over(Event event);

  BandwidthLimit limit_;
  std::set<int> exempt_;  // this rank itself, and others to which the limit does not apply
  MessageTrace& trace_;
  MessageReceiver* receiver_ = nullptr;
  std::deque<Event> kept_;  // until there is a receiver
  FairQueues<Event> held_;  // by the limit
  std::atomic<int64_t> messages_ = 0;
  std::atomic<int64_t> bytes_ = 0;
};

}  // namespace pistachio
