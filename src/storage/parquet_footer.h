// The footer of a Parquet file, parsed by Arrow and converted to plain structs that a scan can traverse without allocating. All offsets
// and lengths are checked against the file's size here, before anything is read or allocated by them. Immutable and shared between scans
// (storage/metadata_cache.h).
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/data_file.h"
#include "storage/page_header.h"
#include "storage/parquet_column.h"

namespace parquet {
class FileMetaData;
}

namespace pistachio {

enum class PageCodec : uint8_t { Uncompressed, Snappy, Gzip, Brotli, Zstd, Lz4Raw, Lz4Hadoop, Unsupported };

std::string_view codec_name(PageCodec codec);
std::string encoding_name(PageEncoding encoding);

struct ByteRange {
  int64_t offset = 0;
  int64_t length = 0;

  int64_t end() const { return offset + length; }
};

// A column's data in one row group.
struct ColumnChunkInfo {
  ByteRange pages;               // dictionary page first, if there is one
  int64_t dictionary_bytes = 0;  // of the dictionary page in the file; 0: none
  int64_t uncompressed_bytes = 0;
  bool has_uncompressed_bytes = true;  // false: the footer's figure is impossible and uncompressed_bytes is a guess
  int64_t values = 0;
  PageCodec codec = PageCodec::Uncompressed;
  std::vector<PageEncoding> encodings;
  std::optional<ScalarValue> minimum;
  std::optional<ScalarValue> maximum;
  bool exact_bounds = false;  // minimum and maximum are values of the chunk; otherwise text bounds may be truncated
  std::optional<int64_t> nulls;
  ByteRange offset_index;  // empty when there is none
  ByteRange column_index;
  ByteRange bloom_filter;  // offset 0: none; length 0: unknown
};

struct RowGroupInfo {
  int64_t rows = 0;
  int64_t first_row = 0;  // of the file
  std::vector<ColumnChunkInfo> columns;
};

struct ParquetFooter {
  std::string path;
  int64_t rows = 0;
  std::string created_by;
  std::vector<ParquetColumn> columns;
  std::vector<RowGroupInfo> row_groups;
  int64_t memory_bytes = 0;  // estimate, for the cache's bound
  // Arrow's representation, needed for page indexes and bloom filters.
  std::shared_ptr<const parquet::FileMetaData> arrow_metadata;

  // Index into `columns`, by exact name first, then ignoring case; -1 when there is none.
  int find_column(std::string_view name) const;
};

// The byte range of the footer, determined from the file's last 8 bytes. Throws DataError.
ByteRange locate_footer(const std::string& path, int64_t file_size, std::span<const uint8_t> last_bytes);

// Parses a footer (its Thrift bytes, without length and magic). Throws DataError.
std::shared_ptr<const ParquetFooter> parse_footer(const std::string& path, int64_t file_size, std::span<const uint8_t> footer);

}  // namespace pistachio
