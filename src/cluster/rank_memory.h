// Memory use of every rank, for SHOW memory: the request of one rank to all, and the answers.
// Threads: ask() blocks its caller; take() and on_peer_lost() run on the transport's thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel_token.h"
#include "memory/memory_governor.h"
#include "network/transport.h"

namespace pistachio {

struct MemoryFigures {
  std::string host;
  int64_t used = 0;  // reserved
  int64_t peak = 0;
  int64_t limit = 0;
};

// Of this process.
MemoryFigures memory_figures(const MemoryGovernor& governor, const std::string& host);
std::string name_of_this_host();

class RankMemory {
 public:
  RankMemory(Transport& transport, const MemoryGovernor& governor, std::string host);

  // By rank; nullopt for ranks that are lost or do not answer in time. Throws Cancelled.
  std::vector<std::optional<MemoryFigures>> ask(const CancelToken& token, const std::vector<int>& lost, std::chrono::milliseconds timeout);

  // Whether the message belonged to this exchange.
  bool take(int source, const Message& message);
  void on_peer_lost(int peer);

 private:
  struct Question {
    std::map<int, std::optional<MemoryFigures>> answers;  // nullopt: not arrived yet
  };

  Transport& transport_;
  const MemoryGovernor& governor_;
  const std::string host_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::map<int64_t, Question> questions_;
  int64_t next_number_ = 1;
};

}  // namespace pistachio
