// All ranks of a job inside one process, joined by memory: for tests of what stands above a transport, and for trying several ranks
// without a network. Payloads are copied, so sender and receiver share nothing. The faults of a real network can be had on demand: a rank
// that vanishes, a link that stalls, messages that overtake each other.
// Threads: one per rank, which takes in what send() gave, makes the copies and calls receiver and callbacks. All methods from any thread.
// Memory: the messages under way.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "network/transport.h"

namespace pistachio {

struct LoopbackOptions {
  // Each message takes a random time up to this, so that messages overtake each other.
  std::chrono::microseconds largest_delay{0};
  uint64_t seed = 1;
};

class LoopbackRank;

class LoopbackNetwork {
 public:
  explicit LoopbackNetwork(int ranks, LoopbackOptions options = {});
  // Stops every rank.
  ~LoopbackNetwork();
  LoopbackNetwork(const LoopbackNetwork&) = delete;
  LoopbackNetwork& operator=(const LoopbackNetwork&) = delete;

  Transport& transport(int rank);

  // The rank vanishes at once, with what it had under way: the others lose it, and it loses all others.
  void lose(int rank);
  // While held, messages from one rank to the other stay with the sender, not sent.
  void hold(int from, int to, bool held);

 private:
  std::vector<std::unique_ptr<LoopbackRank>> ranks_;
};

}  // namespace pistachio
