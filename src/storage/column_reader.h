// One column of one row group, read front to back in strips of rows. Pages are decompressed and decoded whole, in batches; what a page
// holds beyond the strip waits as a slice for the next one. Pages in which no wanted row lies are never touched.
// Owned by one scan unit and used by one thread at a time. Memory: the bytes read, one batch of decoded pages, the dictionary.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "data/column.h"
#include "storage/column_pages.h"
#include "storage/row_ranges.h"

namespace pistachio {

class ColumnReader {
 public:
  struct Options {
    bool verify_checksums = true;
  };

  // `bytes` (sorted by offset) hold the dictionary page and every page that read() will need. `column` and `chunk` outlive the reader.
  ColumnReader(const ParquetColumn& column, const ColumnChunkInfo& chunk, PageDirectory directory, std::vector<FileBytes> bytes,
               DataLocation where, Options options);

  const PageDirectory& directory() const { return directory_; }
  int64_t pages_decoded() const { return pages_decoded_; }

  // Rows [begin, begin + count) of the row group, only those whose mask is true when a mask (bool, of `count` rows) is given.
  // `begin` never goes back. Throws DataError.
  Column read(int64_t begin, int64_t count, const at::Tensor& mask = {});

  // Instead of read(): the pages that hold rows of `wanted`, decompressed into `staging`, to be decoded elsewhere. Throws DataError.
  ColumnPages prepare(const RowRanges& wanted, StagingArea& staging);

  // The whole dictionary, or nullptr when the chunk has none: lets filters run before any page is decoded.
  std::shared_ptr<const Column> dictionary();

 private:
  Column decode_pages(size_t first, size_t last);
  Column decode_group(const PageBatch& batch, size_t first, size_t last);
  Column decode_located(const PageBatch& batch, size_t first, size_t last);

  const ParquetColumn& column_;
  const ColumnChunkInfo& chunk_;
  PageDirectory directory_;
  std::vector<FileBytes> bytes_;
  PageDecompressor decompressor_;
  PageSource source_;
  std::shared_ptr<const Column> dictionary_;
  bool dictionary_loaded_ = false;
  int64_t pages_decoded_ = 0;
  // Decoded rows that the strips so far did not take.
  std::optional<Column> leftover_;
  int64_t leftover_begin_ = 0;
};

}  // namespace pistachio
