// Consecutive pages of a column chunk, decompressed back to back into one buffer, so that one kernel call can decode all of them.
// Uncompressed pages are not copied unless they are staged for a device: the buffer is then the bytes as read.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "storage/page_decompressor.h"
#include "storage/page_directory.h"
#include "storage/staging_area.h"

namespace pistachio {

// A range of a file that was read.
struct FileBytes {
  int64_t offset = 0;
  at::Tensor bytes;  // uint8

  int64_t end() const { return offset + bytes.numel(); }
};

// Positions are offsets into PageBatch::bytes.
struct PreparedPage {
  PageHeader header;
  int64_t file_offset = 0;
  int64_t levels_begin = 0;
  int64_t levels_end = 0;
  int64_t values_begin = 0;
  int64_t values_end = 0;
  bool may_have_nulls = false;
  const uint8_t* values_data = nullptr;  // start of the values in PageBatch::host
  bool runs_checked = false;             // dictionary codes: check_code_runs() was called
};

struct PageBatch {
  at::Tensor bytes;  // on the device that decodes the pages
  at::Tensor host;   // the same bytes on the CPU
  std::vector<PreparedPage> pages;
};

struct PageSource {
  const ParquetColumn* column;
  const ColumnChunkInfo* chunk;
  const std::vector<FileBytes>* bytes;  // sorted by offset; each page is inside one of them
  const PageDecompressor* decompressor;
  bool verify_checksums;
  DataLocation where;
};

// `places` are data pages in row order. With `staging`, the bytes are placed there for upload to a device. Throws DataError.
PageBatch prepare_data_pages(const PageSource& source, std::span<const PagePlace> places, StagingArea* staging = nullptr);
PageBatch prepare_dictionary_page(const PageSource& source, ByteRange place, StagingArea* staging = nullptr);

}  // namespace pistachio
