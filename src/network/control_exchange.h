// All-gather of small control messages within a query, such as bucket loads or sort-key samples: for each topic every rank contributes one note
// and receives the notes of all ranks. Thread-safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/task.h"
#include "memory/channel.h"

namespace pistachio {

class ControlExchange {
 public:
  using Sender = std::function<void(int rank, uint32_t topic, const std::string& note)>;
  ControlExchange(int rank, int ranks, uint32_t topics, Sender send) : rank_(rank), ranks_(ranks), topics_(topics), send_(std::move(send)) {}

  // Sends `own` to all other ranks and waits for theirs; returns one note per rank. Call once per topic, on every rank.
  Task<std::vector<std::string>> share(uint32_t topic, std::string own);

  // Delivers a note from another rank.
  void on_note(int source, uint32_t topic, std::string note);

 private:
  using Arrivals = Channel<std::pair<int, std::string>>;
  Arrivals& arrivals(uint32_t topic);

  const int rank_;
  const int ranks_;
  const uint32_t topics_;
  const Sender send_;
  std::mutex mutex_;
  std::map<uint32_t, std::unique_ptr<Arrivals>> arrivals_;  // guarded by mutex_
};

}  // namespace pistachio
