// One column of one row group, read front to back in strips of rows. Pages are decompressed and decoded whole, in batches; rows of a page
// beyond the strip are kept as a slice for the next one. Pages without a wanted row are never touched.
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
    // For prepare(); see PageSource.
    bool bytes_are_staged = false;
    bool device_decompression = true;
  };

  // `bytes` (sorted by offset) hold the dictionary page and every page that read() will need. `column` and `chunk` outlive the reader.
  ColumnReader(const ParquetColumn& column, const ColumnChunkInfo& chunk, PageDirectory directory, std::vector<FileBytes> bytes,
               DataLocation where, Options options);

  const PageDirectory& directory() const { return directory_; }
  int64_t pages_decoded() const { return pages_decoded_; }

  // Rows [begin, begin + count) of the row group; with a mask (bool, `count` rows) only those where it is true. `begin` must not decrease
  // from call to call. Throws DataError.
  Column read(int64_t begin, int64_t count, const at::Tensor& mask = {});

  // Instead of read(): the pages with rows of `wanted`, to be decoded on a device. Throws DataError.
  ColumnPages prepare(const RowRanges& wanted, StagingArea& staging);

  // The whole dictionary, or nullptr if the chunk has none. Lets filters run before any page is decoded.
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
  // Decoded rows beyond the last strip.
  std::optional<Column> leftover_;
  int64_t leftover_begin_ = 0;
};

}  // namespace pistachio
