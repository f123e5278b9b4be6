// Counters of one scan, updated by its lanes and read by the progress line.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/span_recorder.h"
#include "kernels/ops/device_waits.h"

namespace pistachio {

struct ScanCounters {
  std::atomic<int64_t> rows_total = 0;     // rows of all units of the plan
  std::atomic<int64_t> rows_scanned = 0;   // rows of finished units
  std::atomic<int64_t> rows_selected = 0;  // of those, rows that passed the filters
  std::atomic<int64_t> units_done = 0;
  std::atomic<int64_t> nanoseconds = 0;        // of filtering and decoding, over all lanes
  std::atomic<int64_t> row_groups_pruned = 0;  // at run time, by bloom filters
  std::atomic<int64_t> pages_total = 0;        // in the columns and units that were read
  std::atomic<int64_t> pages_skipped = 0;      // not decoded, since they have no matching row
  kernels::DeviceWaits device_waits;           // if they are counted
  SpanTarget spans;                            // of filtering and decoding; set before the scan starts
};

}  // namespace pistachio
