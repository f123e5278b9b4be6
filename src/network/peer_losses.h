// Lost peers, for callers that wait for an answer from one. Losses are counted, so that a waiter also notices a peer that was lost and quickly
// replaced. Not synchronized.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace pistachio {

class PeerLosses {
 public:
  void lose(int peer, std::string why) {
    Loss& loss = losses_[peer];
    ++loss.count;
    loss.is_lost = true;
    loss.why = std::move(why);
  }
  void restore(int peer) {
    auto found = losses_.find(peer);
    if (found != losses_.end()) found->second.is_lost = false;
  }

  uint64_t count(int peer) const {
    auto found = losses_.find(peer);
    return found == losses_.end() ? 0 : found->second.count;
  }
  // Whether the process that was there when `count` was read is gone.
  bool is_gone(int peer, uint64_t count_before) const {
    auto found = losses_.find(peer);
    return found != losses_.end() && (found->second.is_lost || found->second.count != count_before);
  }
  // Reason of the last loss.
  std::string why(int peer) const {
    auto found = losses_.find(peer);
    return found == losses_.end() ? "" : found->second.why;
  }

 private:
  struct Loss {
    uint64_t count = 0;
    bool is_lost = false;
    std::string why;
  };
  std::map<int, Loss> losses_;
};

}  // namespace pistachio
