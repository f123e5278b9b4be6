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
  // Each message takes a random time up to this, so that messages overtake each other.
  std::chrono::microseconds largest_delay{0};
  uint64_t seed = 1;
};

class LoopbackRank;

// Who is which rank now. Thread-safe.
class LoopbackDirectory {
 public:
  explicit LoopbackDirectory(int ranks) : ranks_(static_cast<size_t>(ranks)) {}

  std::shared_ptr<LoopbackRank> at(int rank) const;
  std::vector<std::shared_ptr<LoopbackRank>> all() const;
  // The one that was there before; null: none.
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

  // Of the process that is this rank now.
  Transport& transport(int rank);

  // The rank vanishes at once, with what it had under way: the others lose it, and it loses all others.
  void lose(int rank);
  // A process in the place of one that was lost or has stopped; the others take to it with Transport::replace(what this gives). Those that
  // are lost themselves are lost for it too.
  RankInfo restart(int rank);
  // While held, messages from one rank to the other stay with the sender, not sent.
  void hold(int from, int to, bool held);

 private:
  const LoopbackOptions options_;
  LoopbackDirectory directory_;
  // By one thread, that of the test.
  std::vector<bool> lost_;
  std::vector<std::shared_ptr<LoopbackRank>> replaced_;  // others may still talk to them
};

}  // namespace pistachio
