// Byte ranges and row ranges of the pages of a column chunk, found by walking the page headers or, without reading any page, from the
// file's offset index. Checked: pages are inside the chunk, in order, and hold exactly the row group's rows.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "storage/parquet_footer.h"

namespace pistachio {

struct PagePlace {
  ByteRange bytes;  // in the file, header included
  int64_t first_row = 0;
  int64_t rows = 0;

  int64_t end_row() const { return first_row + rows; }
};

struct PageDirectory {
  ByteRange dictionary;  // empty when there is none
  std::vector<PagePlace> pages;

  // Index of the page that holds `row`.
  size_t page_of(int64_t row) const;
};

// Result of an earlier walk: where the dictionary is and where a page starts.
struct PageMark {
  ByteRange dictionary;
  int64_t offset = 0;  // in the file
  int64_t row = 0;     // the first of the page
};

// The rows of a chunk to walk. The directory only holds their pages, since all pages of a row group may be too many for memory.
struct WalkedRows {
  int64_t begin = 0;
  int64_t end = 0;
};

// Walks a chunk page by page: read the header at position(), add it, until the wanted rows are complete.
class PageWalk {
 public:
  // `chunk` outlives the walk.
  PageWalk(const ColumnChunkInfo& chunk, int64_t rows, DataLocation where);
  PageWalk(const ColumnChunkInfo& chunk, int64_t rows, DataLocation where, WalkedRows wanted, const PageMark& start);

  bool is_complete() const { return row_ >= wanted_.end; }
  // A later walk that starts here skips the pages so far.
  PageMark mark() const { return {directory_.dictionary, position_, row_}; }
  // File offset of the next header. Throws DataError when the chunk has no more bytes.
  int64_t position() const;
  // Throws DataError if the page contradicts chunk or row group.
  void add(const PageHeader& header);
  PageDirectory finish() { return std::move(directory_); }

 private:
  [[noreturn]] void refuse(const std::string& problem) const;

  const ColumnChunkInfo& chunk_;
  int64_t rows_;
  DataLocation where_;
  WalkedRows wanted_;
  PageDirectory directory_;
  int64_t position_;
  int64_t row_ = 0;
};

// `bytes` are the whole chunk. Throws DataError.
PageDirectory walk_pages(const ColumnChunkInfo& chunk, int64_t rows, std::span<const uint8_t> bytes, const DataLocation& where);

// From a serialized offset index. Throws DataError.
PageDirectory directory_from_offset_index(const ColumnChunkInfo& chunk, int64_t rows, std::span<const uint8_t> index,
                                          const DataLocation& where);

}  // namespace pistachio
