// The one place that reads file bytes: all scans of a query share it. Near ranges are joined into one read, bytes in the page cache are
// copied at once by the caller, the rest is read on the scheduler's pool for blocking calls, many at a time, what the plan needs first
// first. A bandwidth limit (for evaluation) makes reads take as long as a slower device would. Thread-safe. Memory: the buffers it hands
// out.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/task.h"
#include "storage/data_file.h"
#include "storage/read_throttle.h"
#include "storage/page_batch.h"

namespace pistachio {

class ReadPool {
 public:
  struct Options {
    int64_t bandwidth_limit = 0;  // bytes a second; 0: none
  };

  struct Statistics {
    int64_t bytes = 0;
    int64_t reads = 0;
    int64_t cached_bytes = 0;  // of `bytes`, those that were in the page cache
  };

  explicit ReadPool(Options options) : device_(options.bandwidth_limit) {}

  // Reads the ranges (any order, may touch or overlap); gives buffers sorted by offset, each range inside one of them.
  // `need` is the place of the data in the order of the query's plan. Throws DataError, Cancelled.
  Task<std::vector<FileBytes>> read(std::shared_ptr<DataFile> file, std::vector<ByteRange> ranges, int64_t need);
  // For metadata: comes before all data.
  Task<at::Tensor> read_range(std::shared_ptr<DataFile> file, ByteRange range);

  Statistics statistics() const;

 private:
  static constexpr int64_t kMetadataNeed = -1;

  Task<void> fill(DataFile& file, FileBytes& target, int64_t need);

  ReadThrottle device_;
  std::atomic<int64_t> bytes_ = 0;
  std::atomic<int64_t> reads_ = 0;
  std::atomic<int64_t> cached_bytes_ = 0;
};

// Joins ranges whose gap is at most `largest_gap` into ranges of at most `largest_read` (a single longer one stays).
std::vector<ByteRange> coalesce_ranges(std::vector<ByteRange> ranges, int64_t largest_gap, int64_t largest_read);

}  // namespace pistachio
