// What every rank tells all others at one point of a query: loads of buckets, samples of sort keys. A note is small; each rank writes one
// for each topic and reads those of all. Thread-safe.
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

class QueryNotes {
 public:
  using Sender = std::function<void(int rank, uint32_t topic, const std::string& note)>;
  QueryNotes(int rank, int ranks, uint32_t topics, Sender send) : rank_(rank), ranks_(ranks), topics_(topics), send_(std::move(send)) {}

  // Tells all other ranks, then waits for what each of them tells; one entry a rank. Once for each topic, on every rank.
  Task<std::vector<std::string>> share(uint32_t topic, std::string own);

  // A note of another rank.
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
