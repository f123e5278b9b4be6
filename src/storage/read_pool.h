// Performs all file reads of a query, shared by its scans. Adjacent ranges are coalesced; bytes in the page cache are copied by the
// caller, the rest is read on the scheduler's blocking threads, many at a time, in the order in which the plan needs them. A bandwidth
// limit (for benchmarks) emulates a slower device. Thread-safe. Memory: the buffers it returns.
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
    int64_t bandwidth_limit = 0;  // bytes per second; 0: none
  };

  struct Statistics {
    int64_t bytes = 0;
    int64_t reads = 0;
    int64_t cached_bytes = 0;  // of these, from the page cache
    int64_t mapped_bytes = 0;  // of these, copied by a GPU from the page cache (storage/mapped_files.h)
  };

  explicit ReadPool(Options options) : device_(options.bandwidth_limit) {}

  // Reads the ranges (any order, may touch or overlap). Returns buffers sorted by offset; each range is inside one of them.
  // `need` is the priority: reads with lower values go first. Throws DataError, Cancelled.
  // With `staging`, the buffers are allocated there.
  Task<std::vector<FileBytes>> read(std::shared_ptr<DataFile> file, std::vector<ByteRange> ranges, int64_t need,
                                    StagingArea* staging = nullptr);
  // For metadata, which is read before all data.
  Task<at::Tensor> read_range(std::shared_ptr<DataFile> file, ByteRange range);

  // Bytes that a device copies without a read.
  void count_mapped(int64_t bytes);

  Statistics statistics() const;

 private:
  static constexpr int64_t kMetadataNeed = -1;

  Task<void> fill(DataFile& file, FileBytes& target, int64_t need);

  ReadThrottle device_;
  std::atomic<int64_t> bytes_ = 0;
  std::atomic<int64_t> reads_ = 0;
  std::atomic<int64_t> cached_bytes_ = 0;
  std::atomic<int64_t> mapped_bytes_ = 0;
};

// Joins ranges whose gap is at most `largest_gap` into reads of at most `largest_read` bytes. Longer ranges stay whole, and overlapping
// ones are always joined.
std::vector<ByteRange> coalesce_ranges(std::vector<ByteRange> ranges, int64_t largest_gap, int64_t largest_read);

}  // namespace pistachio
