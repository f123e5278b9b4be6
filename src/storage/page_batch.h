// Consecutive pages of a column chunk in one buffer, decompressed, so that one kernel call can decode all of them. Uncompressed pages are
// not copied. Pages for a device may stay compressed: the device decompresses them (storage/device_decompression.h).
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <vector>

#include "storage/data_file.h"
#include "storage/page_decompressor.h"
#include "storage/page_directory.h"
#include "storage/staging_area.h"

namespace pistachio {

// Bytes of a file on the host: part of a buffer, or a copy.
struct HostBytes {
  std::vector<uint8_t> copy;
  std::span<const uint8_t> bytes;
};

// A range of a file that was read, or mapped for a device to copy from.
struct FileBytes {
  int64_t offset = 0;
  at::Tensor bytes;  // uint8
  // If mapped: the host reads from the file, since it must not touch the mapping (storage/file_mapping.h).
  std::shared_ptr<const HeldFile> mapped_file = nullptr;

  int64_t end() const { return offset + bytes.numel(); }
  // The `length` bytes at `begin`, counted from the beginning of `bytes`. Throws DataError.
  HostBytes on_host(int64_t begin, int64_t length) const;
};

// The first bytes of a page's values. Some encodings start with counts or widths, which the host needs wherever the page is decoded: at
// most three numbers of ten bytes.
class ValuesHead {
 public:
  ValuesHead() = default;
  explicit ValuesHead(std::span<const uint8_t> values) : size_(std::min(values.size(), kBytes)) {
    std::copy_n(values.begin(), size_, bytes_.begin());
  }

  static constexpr size_t kBytes = 32;
  std::span<const uint8_t> bytes() const { return {bytes_.data(), size_}; }

 private:
  std::array<uint8_t, kBytes> bytes_{};
  size_t size_ = 0;
};

// Positions are relative to the beginning of the decompressed batch.
struct PreparedPage {
  PageHeader header;
  int64_t file_offset = 0;
  int64_t levels_begin = 0;
  int64_t levels_end = 0;
  int64_t values_begin = 0;
  int64_t values_end = 0;
  bool may_have_nulls = false;
  ValuesHead head;
};

// Position of a page in its batch before the batch is decompressed.
struct CompressedPage {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t plain_bytes = 0;  // leading bytes that are not compressed
  int64_t size = 0;         // decompressed, including the plain bytes
};

// Positions of pages count from `begin`. Thousands of batches share a buffer, and a tensor slice for each would take longer than their copy.
struct PageBatch {
  at::Tensor bytes;  // on the device that decodes the pages
  int64_t begin = 0;  // the batch is bytes[begin, end)
  int64_t end = 0;
  bool is_mapped = false;  // FileBytes::mapped_file
  std::vector<PreparedPage> pages;
  std::vector<CompressedPage> compressed;  // of all pages, in their order; empty: `bytes` are decompressed
};

struct PageSource {
  const ParquetColumn* column;
  const ColumnChunkInfo* chunk;
  const std::vector<FileBytes>* bytes;  // sorted by offset; each page is inside one of them
  const PageDecompressor* decompressor;
  bool verify_checksums;
  bool bytes_are_staged;      // `bytes` can be uploaded to the device as they are
  bool device_decompression;  // pages for a device stay compressed if it knows their codec
  DataLocation where;
};

// `places` are data pages in row order. With `staging`, the pages are for a device: what has to be copied or decompressed goes there.
// Throws DataError.
PageBatch prepare_data_pages(const PageSource& source, std::span<const PagePlace> places, StagingArea* staging = nullptr);
PageBatch prepare_dictionary_page(const PageSource& source, ByteRange place, StagingArea* staging = nullptr);

}  // namespace pistachio
