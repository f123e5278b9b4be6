// All-to-all messages without any other work: an upper bound of an exchange's bandwidth. The first rank announces the size and number of
// messages that every rank sends to every other one; each rank reports when it has received all messages for it. Acts as the transport's
// receiver on every rank.
// Threads: run() and wait() block their callers; messages arrive on the transport's thread. Memory: one message, sent repeatedly.
#pragma once

#include <ATen/core/Tensor.h>

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "base/cancel_token.h"
#include "network/transport.h"

namespace pistachio {

class AllToAll final : public MessageReceiver {
 public:
  enum class Pattern : uint8_t {
    AllPairs,
    FirstLink,  // from the first rank to the second only
  };

  explicit AllToAll(Transport& transport) : transport_(transport) {}

  // On the first rank: sends `messages` messages from each sender to each receiver; returns the seconds until all have arrived. One call at
  // a time. Throws PeerError, Cancelled.
  double run(Pattern pattern, int64_t message_bytes, int64_t messages, const CancelToken& token);

  // On the other ranks: returns when the first rank is gone. Throws Cancelled.
  void wait(const CancelToken& token);

  void on_message(int source, Message message) noexcept override;
  void on_peer_lost(int peer, std::string why) noexcept override;

 private:
  struct Round {
    int64_t number = 0;
    int64_t message_bytes = 0;
    int64_t messages = 0;
    Pattern pattern = Pattern::AllPairs;
  };
  // Progress of a round on this rank. Messages may arrive before the announcement.
  struct Progress {
    bool has_begun = false;
    int64_t received = 0;
  };

  static std::string pack(const Round& round);
  static std::optional<Round> unpack(const std::string& bytes);
  bool sends(const Round& round, int from, int to) const;
  int64_t expected(const Round& round) const;
  void begin(const Round& round);
  // Call without the lock after a change: reports to the first rank if the round is complete here.
  void report_if_complete(const Round& round);

  Transport& transport_;
  at::Tensor payload_;  // used by the transport's thread
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::map<int64_t, Progress> rounds_;
  std::map<int, std::string> lost_;
  std::set<int> finished_;  // first rank only: ranks that completed round number_
  int64_t number_ = 0;
};

}  // namespace pistachio
