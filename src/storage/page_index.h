// Page indexes of a file: per column chunk, the location of its pages (offset index) and the bounds of each (column index). Loaded on
// demand, then kept with the footer. Thread-safe. An index is optional: one that is damaged, or that contradicts the schema, the counts,
// the chunk's statistics or itself, is ignored.
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

// The bounds of a page's values; none if it holds only NULLs or they are unknown.
struct PageRange {
  bool only_nulls = false;
  bool exact = false;  // the bounds are not truncated
  std::optional<ScalarValue> minimum;
  std::optional<ScalarValue> maximum;
};

class PageIndexes {
 public:
  explicit PageIndexes(std::shared_ptr<const ParquetFooter> footer) : footer_(std::move(footer)) {}

  // Nullptr if the file has no usable offset index for this column chunk.
  Task<std::shared_ptr<const PageDirectory>> directory(ReadPool& pool, std::shared_ptr<DataFile> file, int row_group, int column);
  // One entry per page of the directory; nullptr if there is no usable column index.
  Task<std::shared_ptr<const std::vector<PageRange>>> ranges(ReadPool& pool, std::shared_ptr<DataFile> file, int row_group, int column);
  // For chunks without an offset index, whose page headers are walked in parts: the last known page that starts at or before `row`. Marks
  // are sparse, so they take little memory.
  PageMark mark_before(int row_group, int column, int64_t row);
  void add_mark(int row_group, int column, const PageMark& mark);
  // Of the indexes loaded so far.
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
