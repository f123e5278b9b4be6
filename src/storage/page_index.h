// Page indexes of a file: for a column chunk, where its pages lie (offset index) and what range of values each holds (column index).
// Loaded when a scan first needs them, then kept with the footer. Thread-safe. An index only saves work: one that is damaged, or that
// contradicts the schema, the counts, the chunk's statistics or itself, is ignored.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/task.h"
#include "storage/page_directory.h"
#include "storage/read_pool.h"

namespace pistachio {

// The range of a page's values; none when it holds only NULLs, or when nothing is known.
struct PageRange {
  bool only_nulls = false;
  bool exact = false;  // the bounds are not cut short
  std::optional<ScalarValue> minimum;
  std::optional<ScalarValue> maximum;
};

class PageIndexes {
 public:
  explicit PageIndexes(std::shared_ptr<const ParquetFooter> footer) : footer_(std::move(footer)) {}

  // Nullptr when the file has none for this column chunk, or one that contradicts it.
  Task<std::shared_ptr<const PageDirectory>> directory(ReadPool& pool, std::shared_ptr<DataFile> file, int row_group, int column);
  // One entry a page of the directory; nullptr when there is none that can be used.
  Task<std::shared_ptr<const std::vector<PageRange>>> ranges(ReadPool& pool, std::shared_ptr<DataFile> file, int row_group, int column);
  // For chunks without an offset index, whose page headers are walked in parts: the last known page that begins at or before a row, and
  // how to make more of them known. Sparse, so that they take next to no memory.
  PageMark mark_before(int row_group, int column, int64_t row);
  void add_mark(int row_group, int column, const PageMark& mark);
  // What is loaded so far.
  int64_t memory_bytes() const { return memory_bytes_; }

 private:
  using Key = std::pair<int, int>;

  std::shared_ptr<const ParquetFooter> footer_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::map<Key, std::shared_ptr<const PageDirectory>> directories_;
  std::map<Key, std::shared_ptr<const std::vector<PageRange>>> ranges_;
  std::map<Key, std::map<int64_t, PageMark>> marks_;  // by row
  std::atomic<int64_t> memory_bytes_ = 0;             // changed under mutex_
};

}  // namespace pistachio
