// Counters of one scan, shared by its lanes and read by progress lines while it runs.
#pragma once

#include <atomic>
#include <cstdint>

namespace pistachio {

struct ScanCounters {
  std::atomic<int64_t> rows_total = 0;     // rows of all units of the plan
  std::atomic<int64_t> rows_scanned = 0;   // rows of the units done
  std::atomic<int64_t> rows_selected = 0;  // of those, rows that passed the filters
  std::atomic<int64_t> units_done = 0;
  std::atomic<int64_t> nanoseconds = 0;        // of filtering and decoding, over all lanes
  std::atomic<int64_t> row_groups_pruned = 0;  // while running: by bloom filters
  std::atomic<int64_t> pages_total = 0;        // of the columns and units that were read
  std::atomic<int64_t> pages_skipped = 0;      // never decoded, because no wanted row lies in them
};

}  // namespace pistachio
