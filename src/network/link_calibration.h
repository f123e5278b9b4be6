// Measures the bandwidth from this rank to another for different message sizes, to choose the message size of exchanges. Every rank has a
// LinkCalibrator, which the transport's receiver feeds with its message kinds.
// Threads: measure() blocks its caller, which must not be the transport's thread; on_message() and on_peer_lost() are called on that thread.
// Memory: one payload of the largest size while measuring; received payloads are dropped at once.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "network/peer_losses.h"
#include "network/transport.h"

namespace pistachio {

struct LinkSpeed {
  int64_t message_bytes = 0;
  double bytes_per_second = 0;
};

// The smallest size from which on the link reaches this share of its best bandwidth; 0 for an empty table.
int64_t smallest_fast_size(const std::vector<LinkSpeed>& table, double share = 0.95);

class LinkCalibrator : public MessageReceiver {
 public:
  static constexpr uint16_t kDataKind = 100;
  static constexpr uint16_t kAnswerKind = 101;
  static constexpr int64_t kSmallestMessage = int64_t{4} << 10;
  static constexpr int64_t kLargestMessage = int64_t{64} << 20;

  explicit LinkCalibrator(Transport& transport) : transport_(transport) {}

  static bool handles(uint16_t kind) { return kind == kDataKind || kind == kAnswerKind; }

  // Measures sizes from kSmallestMessage to `largest`, each four times the previous, for a few milliseconds each; stops after a size whose
  // single message takes longer than `timeout`. One call at a time. Throws PeerError if the peer is lost or does not answer.
  std::vector<LinkSpeed> measure(int peer, int64_t largest = kLargestMessage, std::chrono::milliseconds timeout = std::chrono::hours(1));

  void on_message(int source, Message message) noexcept override;
  void on_peer_lost(int peer, std::string why) noexcept override;
  void on_peer_replaced(const RankInfo& peer) noexcept override;

 private:
  // Seconds until the peer has received all messages.
  double time_batch(int peer, const at::Tensor& payload, int messages);
  void count_data(int source, const Message& message);

  Transport& transport_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  uint64_t next_batch_ = 1;
  uint64_t answered_batch_ = 0;
  PeerLosses losses_;
  std::map<std::pair<int, uint64_t>, uint32_t> received_;  // by source and batch: messages so far
};

}  // namespace pistachio
