// Reads an in-memory Parquet file through the engine's footer, page walk and column readers, without scheduler, files or filters: the
// shortest path from bytes to columns. Used by decoding tests, mutation tests and the fuzzer. Throws what the engine throws.
#pragma once

#include <ATen/core/Tensor.h>
#include <arrow/buffer.h>

#include <memory>
#include <span>
#include <vector>

#include "data/column.h"
#include "storage/column_reader.h"
#include "storage/parquet_footer.h"

namespace pistachio::test {

struct ReadStrip {
  int64_t first_row;          // of the row group
  std::vector<int64_t> rows;  // of the row group, those selected by the mask
  Column column;
};

class InMemoryFile {
 public:
  // The bytes must outlive this.
  explicit InMemoryFile(std::span<const uint8_t> bytes);
  explicit InMemoryFile(const arrow::Buffer& bytes) : InMemoryFile(std::span(bytes.data(), static_cast<size_t>(bytes.size()))) {}

  const ParquetFooter& footer() const { return *footer_; }

  struct Options {
    int64_t strip_rows = 1 << 20;
    bool use_offset_index = false;  // locate pages by the offset index if there is one, else by walking the page headers
    uint64_t mask_seed = 0;         // 0: all rows; else random runs of rows, so that whole pages are skipped
  };
  std::vector<ReadStrip> read(int column, int row_group, Options options) const;

  // The column of all row groups, decoded together on a device and copied back to the host. `rows` are its rows in the file: all, or with a
  // mask seed random runs.
  struct WholeColumn {
    std::vector<int64_t> rows;
    Column column;
  };
  WholeColumn read_together(int column, Options options, at::Device device) const;

 private:
  std::unique_ptr<ColumnReader> reader_of(int column, int row_group, const Options& options) const;

  std::span<const uint8_t> bytes_;
  std::shared_ptr<const ParquetFooter> footer_;
};

}  // namespace pistachio::test
