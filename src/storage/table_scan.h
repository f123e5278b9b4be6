// Runs a scan plan. A dispatcher prefetches units in plan order, bounded by the memory account and a window; lanes (one per consumer) take
// fetched units and decode each chunk where it is consumed. The settings `overlap` and `reader` select the slower variants of the
// published comparison.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>

#include "base/task.h"
#include "data/chunk.h"
#include "memory/channel.h"
#include "storage/scan_plan.h"
#include "storage/scan_statistics.h"
#include "storage/scan_unit.h"
#include "storage/unit_source.h"

namespace pistachio {

class TaskGroup;

// A chunk and its memory: keep `memory` as long as the chunk's tensors are used.
struct ScannedChunk {
  Chunk chunk;
  std::shared_ptr<const Reservation> memory;
};

class TableScan;

// One consumer's handle of a scan.
class ScanLane {
 public:
  explicit ScanLane(TableScan& scan) : scan_(scan) {}

  // The next chunk; nullopt at the end. No order across lanes.
  Task<std::optional<ScannedChunk>> next();
  // Instead of next() for decoding on a device: a unit with rows.
  Task<std::optional<UnitPages>> next_pages();

 private:
  TableScan& scan_;
  std::unique_ptr<UnitReader> unit_;
};

class TableScan {
 public:
  // All references and pointers must outlive the scan. Without a source, all units of the plan are read in its order. With `staging`, pages
  // are read into it for decoding on a device.
  TableScan(StorageContext& storage, const ScanPlan& plan, ScanCounters& counters, UnitSource* source = nullptr,
            StagingArea* staging = nullptr)
      : storage_(storage), plan_(plan), counters_(counters), source_(source), staging_(staging) {}

  // Units in flight: enough to keep every I/O thread and every lane busy.
  static int64_t window(int lanes, const Settings& settings) { return lanes + settings.io_threads; }

  // Runs `consume` concurrently on `lanes` lanes and returns when all are done. The first error stops all lanes.
  Task<void> run(int lanes, std::function<Task<void>(ScanLane&)> consume);

  // Starts no more units; lanes soon see the end. Any lane may call it.
  void stop() { stopped_ = true; }

 private:
  friend class ScanLane;

  using UnitChannel = Channel<std::unique_ptr<UnitReader>>;

  Task<std::optional<size_t>> choose_unit();
  Task<std::unique_ptr<UnitReader>> take_unit();
  Task<std::unique_ptr<UnitReader>> fetch_next();
  Task<std::unique_ptr<UnitReader>> fetch_all_first();
  Task<void> release_window();
  Task<void> dispatch(TaskGroup& group);
  Task<void> fetch_and_pass(std::unique_ptr<UnitReader> unit);
  Task<std::unique_ptr<UnitReader>> make_unit(size_t index);
  int64_t window() const { return window(lanes_, storage_.settings); }

  StorageContext& storage_;
  const ScanPlan& plan_;
  ScanCounters& counters_;
  UnitSource* const source_;
  StagingArea* const staging_;
  std::atomic<bool> stopped_ = false;
  int lanes_ = 1;
  std::atomic<size_t> next_unit_ = 0;      // without a source: the next unit to fetch
  std::atomic<size_t> units_to_pass_ = 0;  // with read-ahead: units not handed to the lanes yet, plus 1 while the dispatcher runs
  std::unique_ptr<UnitChannel> ready_;     // with read-ahead: fetched units
  // One token per unit between dispatch and the end of its decoding.
  std::unique_ptr<Channel<int>> in_flight_;
  std::vector<std::unique_ptr<UnitReader>> fetched_;  // blocking reader: all units, fetched before decoding starts
  bool all_fetched_ = false;
};

}  // namespace pistachio
