// A process in small, for tests of scans: scheduler, governor, caches and read pool around one TableScan. Chunks arrive one at a time: in
// file order through one lane that does not read ahead, or in any order through as many lanes as there are threads. Throws what the engine
// throws.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/scheduler.h"
#include "memory/memory_governor.h"
#include "storage/table_scan.h"

namespace pistachio::test {

class ScanHarness {
 public:
  explicit ScanHarness(Settings settings);

  struct Outcome {
    int64_t rows = 0;  // selected
    int64_t chunks = 0;
    int64_t row_groups = 0;
    int64_t pruned_row_groups = 0;
    int64_t pages = 0;
    int64_t skipped_pages = 0;
    int64_t mapped_bytes = 0;
  };
  using Consume = std::function<void(const ScanPlan&, const Chunk&)>;

  // Scans files, folders or globs, in file order; `token` ends it early.
  Outcome scan(std::vector<std::string> patterns, ScanRequest request, Consume consume = {}, CancelToken token = {});
  Outcome scan_in_any_order(std::vector<std::string> patterns, ScanRequest request, Consume consume = {}, CancelToken token = {});
  // Decoded by DeviceScan, many row groups together, in file order.
  Outcome scan_together(std::vector<std::string> patterns, ScanRequest request, Consume consume = {}, at::Device device = at::kCPU);
  int64_t peak_memory() const { return governor_.peak(); }
  const Settings& settings() const { return settings_; }
  const MetadataCache& metadata_cache() const { return metadata_cache_; }

 private:
  Outcome run(const Settings& settings, std::vector<std::string> patterns, ScanRequest request, Consume consume, CancelToken token,
              int lanes);

  Settings settings_;
  MemoryGovernor governor_;
  Scheduler scheduler_;
  ObjectStores object_stores_;
  MetadataCache metadata_cache_;
};

// Two workers and little memory, for most tests.
Settings scan_test_settings();

}  // namespace pistachio::test
