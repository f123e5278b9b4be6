// Row groups of a query's scans that this rank has not read yet. A rank that has finished its share asks others for some of theirs; the asked rank gives one
// from the end of its list or answers that it has none. Every request is answered, by the hub if the query has ended or not begun
// (exchange_hub.h). Units are indices into a scan plan that is identical on all ranks. Thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/task.h"
#include "memory/channel.h"

namespace pistachio {

class ScanShares {
 public:
  using Asker = std::function<void(int rank, uint32_t scan)>;
  using Giver = std::function<void(int rank, uint32_t scan, int64_t unit)>;
  // Sent instead of a unit.
  static constexpr int64_t kNone = -1;

  ScanShares(Asker ask, Giver give) : ask_(std::move(ask)), give_(std::move(give)) {}

  // This rank's share, in reading order.
  void offer(uint32_t scan, const std::vector<size_t>& units);
  // The next unit of this rank's share that no other rank has taken.
  std::optional<size_t> take(uint32_t scan);
  // Gives no more units to others.
  void withdraw(uint32_t scan);

  struct Answer {
    int rank = 0;
    std::optional<size_t> unit;
  };
  // Asks another rank and waits for an answer; if several tasks ask for a scan, any of their answers. A unit in it now belongs to this
  // rank.
  Task<Answer> ask(int rank, uint32_t scan);

  void on_question(int source, uint32_t scan);
  void on_answer(int source, uint32_t scan, int64_t unit);

 private:
  Channel<Answer>& answers(uint32_t scan);

  const Asker ask_;
  const Giver give_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::map<uint32_t, std::deque<size_t>> left_;
  std::map<uint32_t, std::unique_ptr<Channel<Answer>>> answers_;
};

}  // namespace pistachio
