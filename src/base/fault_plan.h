// Fault injection for tests (setting fault_at): where and how this rank fails in a query. One plan per query and rank; an empty one costs
// one comparison per fault point. Thread-safe.
//   scan_chunk:1:3=kill    rank 1 kills itself at its third chunk of a scan
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace pistachio {

// Fault points of a distributed query, in the order in which they occur; names in fault_plan.cpp.
enum class FaultPoint : uint8_t {
  None,
  PlanSent,           // rank 0 is about to send the plan to another rank
  PlanReceived,       // another rank starts on it
  TablesOpened,       // and has opened its files
  StageBegun,         // a stage starts
  ScanChunk,          // a scan has produced a chunk
  RowsPartitioned,    // an exchange has chosen the destinations of a chunk's rows
  BlockPacked,        // rows are packed for another rank
  CreditAwaited,      // the window to another rank is full
  RowsSent,           // a message with rows is sent
  RowsReceived,       // and has arrived
  RowsUnpacked,       // and is consumed
  CreditSent,         // its sender gets credit back
  CreditReceived,     // and receives it
  EndSent,            // a sender has nothing more
  EndReceived,        // and its receiver is notified
  EnoughSent,         // a receiver needs no more rows
  EnoughReceived,     // and its sender is notified
  BuildCollected,     // all rows of a join's build side have arrived
  BuildFinished,      // and its hash table is complete
  ProbeChunk,         // a chunk is about to probe it
  AggregateUpdate,    // a chunk is aggregated
  AggregateMerge,     // the groups of the lanes are merged
  SortRows,           // all rows to be sorted have arrived
  StageEnded,         // a stage has sent everything
  PartEnded,          // a rank has finished its part
  FinishedSent,       // and reports it
  FinishedReceived,   // and rank 0 is notified
  CancelSent,         // rank 0 cancels another rank
  CancelReceived,     // which receives that
};

enum class FaultAction : uint8_t { Kill, Stop, Cut, NoSpace, NoMemory, Delay };

class FaultPlan {
 public:
  // No fault.
  FaultPlan() = default;
  // Parses `POINT[:RANK][:NTH]=ACTION` for this rank; `cut` disconnects it from the network. Throws UserError.
  FaultPlan(std::string_view text, int rank, std::function<void()> cut);

  // Throws UserError if the text is malformed.
  static void check(std::string_view text);
  static std::vector<std::string_view> point_names();

  void reach(FaultPoint point) {
    if (point == point_) [[unlikely]]
      count_and_act();
  }

 private:
  void count_and_act();

  FaultPoint point_ = FaultPoint::None;
  FaultAction action_ = FaultAction::Delay;
  int64_t nth_ = 1;
  std::function<void()> cut_;
  std::atomic<int64_t> passed_ = 0;
};

}  // namespace pistachio
