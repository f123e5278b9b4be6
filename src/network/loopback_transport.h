// All ranks of a job inside one process, connected through memory: for tests of the layers above, and for running several ranks without a network.
// Payloads are copied, so sender and receiver share nothing. Network faults can be injected: a rank that disappears and is restarted, a stalled
// link, reordered messages.
// Threads: one per rank, which takes queued sends, copies payloads and calls receiver and callbacks. All methods are thread-safe. Memory: messages in
// flight.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "network/transport.h"

namespace pistachio {

struct LoopbackOptions {
  // Each message is delayed randomly up to this, so that messages overtake each other.
  std::chrono::microseconds largest_delay{0};
  uint64_t seed = 1;
};

class LoopbackRank;

// The current process of each rank. Thread-safe.
class LoopbackDirectory {
 public:
  explicit LoopbackDirectory(int ranks) : ranks_(static_cast<size_t>(ranks)) {}

  std::shared_ptr<LoopbackRank> at(int rank) const;
  std::vector<std::shared_ptr<LoopbackRank>> all() const;
  // Returns the previous process; null if there was none.
  std::shared_ptr<LoopbackRank> put(int rank, std::shared_ptr<LoopbackRank> process);

 private:
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<LoopbackRank>> ranks_;  // guarded by mutex_
};

class LoopbackNetwork {
 public:
  explicit LoopbackNetwork(int ranks, LoopbackOptions options = {});
  // Stops every rank.
  ~LoopbackNetwork();
  LoopbackNetwork(const LoopbackNetwork&) = delete;
  LoopbackNetwork& operator=(const LoopbackNetwork&) = delete;

  // Of the current process of the rank.
  Transport& transport(int rank);

  // The rank vanishes at once with its messages in flight: the others lose it, and it loses all others.
  void lose(int rank);
  // A new process in place of one that was lost or stopped; pass the result to the others' Transport::replace(). Ranks that are lost are
  // lost for it too.
  RankInfo restart(int rank);
  // While held, messages from one rank to the other stay unsent with the sender.
  void hold(int from, int to, bool held);

 private:
  const LoopbackOptions options_;
  LoopbackDirectory directory_;
  // Used by the test's thread only.
  std::vector<bool> lost_;
  std::vector<std::shared_ptr<LoopbackRank>> replaced_;  // other ranks may still access them
};

}  // namespace pistachio
