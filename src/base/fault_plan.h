// Where and how this rank is to fail in a query, for tests of what the others make of that (the setting fault_at). One plan a query and
// rank; an empty one costs a comparison where a point is passed. Thread-safe.
//   scan_chunk:1:3=kill    rank 1 kills itself at its third chunk of a scan
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace pistachio {

// The moments in the life of a query over ranks, in the order of a query; names in fault_plan.cpp.
enum class FaultPoint : uint8_t {
  None,
  PlanSent,           // the first rank is about to send the plan to another
  PlanReceived,       // another rank begins with it
  TablesOpened,       // and has opened its files
  StageBegun,         // a stage starts
  ScanChunk,          // a scan has a chunk
  RowsPartitioned,    // an exchange has decided where the rows of a chunk go
  BlockPacked,        // rows are packed for another rank
  CreditAwaited,      // the window to another rank is full
  RowsSent,           // a message with rows goes out
  RowsReceived,       // and has come
  RowsUnpacked,       // and is taken up
  CreditSent,         // its sender is told
  CreditReceived,     // and hears of it
  EndSent,            // a sender has nothing more
  EndReceived,        // and its receiver knows
  EnoughSent,         // a receiver wants nothing more
  EnoughReceived,     // and its sender knows
  BuildCollected,     // all rows of the build side of a join are there
  BuildFinished,      // and its table
  ProbeChunk,         // a chunk is looked up in it
  AggregateUpdate,    // a chunk goes into a grouping
  AggregateMerge,     // what the lanes grouped is put together
  SortRows,           // all rows to be sorted are there
  StageEnded,         // a stage has sent everything
  PartEnded,          // a rank has done its part
  FinishedSent,       // and says so
  FinishedReceived,   // and the first rank knows
  CancelSent,         // the first rank stops another
  CancelReceived,     // which hears of it
};

enum class FaultAction : uint8_t { Kill, Stop, Cut, NoSpace, NoMemory, Delay };

class FaultPlan {
 public:
  // Nothing happens.
  FaultPlan() = default;
  // Of `POINT[:RANK][:NTH]=ACTION`, for the rank with this number; `cut` takes it off the network. Throws UserError.
  FaultPlan(std::string_view text, int rank, std::function<void()> cut);

  // Throws UserError that says what is wrong with the text.
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
