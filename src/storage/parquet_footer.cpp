#include "storage/parquet_footer.h"

#include <fmt/format.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>

#include "base/error.h"
#include "storage/raw_statistics.h"
#include "storage/same_name.h"
#include "storage/schema_depth.h"
#include "storage/thrift_compact_reader.h"

namespace pistachio {

namespace {

constexpr int64_t kTrailerBytes = 8;  // length of the footer, "PAR1"
constexpr int64_t kMagicBytes = 4;    // "PAR1", in front of all data
constexpr int64_t kGuessedCompression = 8;
constexpr int64_t kDeepestSchema = 1'000;
// A page has a header of a few bytes and counts its rows in 31 bits.
constexpr int64_t kSmallestPage = 8;
constexpr int64_t kLargestPageRows = INT32_MAX;

PageCodec codec_of(parquet::Compression::type codec) {
  switch (codec) {
    case arrow::Compression::UNCOMPRESSED: return PageCodec::Uncompressed;
    case arrow::Compression::SNAPPY: return PageCodec::Snappy;
    case arrow::Compression::GZIP: return PageCodec::Gzip;
    case arrow::Compression::BROTLI: return PageCodec::Brotli;
    case arrow::Compression::ZSTD: return PageCodec::Zstd;
    case arrow::Compression::LZ4: return PageCodec::Lz4Raw;
    case arrow::Compression::LZ4_HADOOP: return PageCodec::Lz4Hadoop;
    default: return PageCodec::Unsupported;
  }
}

bool inside_file(int64_t offset, int64_t length, int64_t file_size) {
  return offset >= 0 && length >= 0 && length <= file_size && offset <= file_size - length;
}

ByteRange checked_index(const std::optional<parquet::IndexLocation>& location, int64_t file_size) {
  // An index is optional: one that points outside the file is ignored.
  if (!location || !inside_file(location->offset, location->length, file_size) || location->length == 0) return {};
  return {location->offset, location->length};
}

// Statistics are optional: those that contradict the schema, the number of values or themselves are ignored altogether.
// Arrow knows which versions of which writers produce wrong ones.
void read_statistics(const parquet::ColumnChunkMetaData& chunk, const RawStatistics& raw, const ParquetColumn& column,
                     ColumnChunkInfo& info) {
  if (!column.is_supported() || !chunk.is_stats_set()) return;
  // Some writers use -1 for an unknown count.
  const std::optional<int64_t> nulls = raw.nulls && *raw.nulls >= 0 ? raw.nulls : std::nullopt;
  const int64_t present = info.values - nulls.value_or(0);
  if (present < 0 || (column.max_definition == 0 && nulls.value_or(0) > 0)) return;
  if (raw.distinct && *raw.distinct > present) return;
  const bool is_current = raw.minimum && raw.maximum;
  if (!is_current && !(raw.old_minimum && raw.old_maximum)) {
    info.nulls = nulls;
    return;
  }
  if (present == 0) return;
  // The deprecated fields use signed comparison, whatever the type.
  if (is_current || has_signed_order(column)) {
    ScalarValue minimum = decode_statistic(column, is_current ? *raw.minimum : *raw.old_minimum);
    ScalarValue maximum = decode_statistic(column, is_current ? *raw.maximum : *raw.old_maximum);
    if (!minimum.is_null && !maximum.is_null) {
      if (compare(minimum, maximum) > 0) return;
      info.minimum = std::move(minimum);
      info.maximum = std::move(maximum);
      info.exact_bounds = !column.type.is_text() || (raw.minimum_is_exact && raw.maximum_is_exact);
    }
  }
  info.nulls = nulls;
}

// None if Arrow and this reader see different row groups in a damaged footer.
RawStatistics statistics_of(const std::vector<std::vector<RawStatistics>>& all, int row_group, int leaf) {
  const size_t group = static_cast<size_t>(row_group);
  const size_t column = static_cast<size_t>(leaf);
  return group < all.size() && column < all[group].size() ? all[group][column] : RawStatistics{};
}

// An index or bloom filter that two column chunks point to can belong to only one of them: neither uses it.
void ignore_shared_places(ParquetFooter& footer, ByteRange ColumnChunkInfo::* place) {
  std::unordered_map<int64_t, int> uses;
  for (const RowGroupInfo& group : footer.row_groups) {
    for (const ColumnChunkInfo& chunk : group.columns) {
      if ((chunk.*place).offset > 0) ++uses[(chunk.*place).offset];
    }
  }
  for (RowGroupInfo& group : footer.row_groups) {
    for (ColumnChunkInfo& chunk : group.columns) {
      if ((chunk.*place).offset > 0 && uses[(chunk.*place).offset] > 1) chunk.*place = {};
    }
  }
}

// Columns of the same name are ambiguous; so is a column `a.b` next to the field b of a struct a.
void refuse_repeated_names(ParquetFooter& footer) {
  std::map<std::string_view, int> uses;
  for (const ParquetColumn& column : footer.columns) ++uses[column.name];
  for (ParquetColumn& column : footer.columns) {
    if (uses[column.name] > 1) column.unsupported = fmt::format("its name appears twice in {}", footer.path);
  }
}

// Where a chunk's pages start. An offset inside the file's magic number means none: old writers leave a dictionary offset of 0, or one
// after the data pages; then the header of the first page says whether it is a dictionary.
int64_t first_page_offset(const parquet::ColumnChunkMetaData& chunk) {
  const int64_t data = chunk.data_page_offset();
  const int64_t dictionary = chunk.has_dictionary_page() ? chunk.dictionary_page_offset() : 0;
  if (dictionary < kMagicBytes) return data;
  return data >= 0 && data < kMagicBytes ? dictionary : std::min(data, dictionary);
}

// Sorted offsets where something other than pages of the preceding chunk starts.
std::vector<int64_t> find_boundaries(const parquet::FileMetaData& metadata, int64_t footer_offset) {
  std::vector<int64_t> boundaries = {footer_offset};
  for (int group = 0; group < metadata.num_row_groups(); ++group) {
    std::unique_ptr<parquet::RowGroupMetaData> row_group = metadata.RowGroup(group);
    for (int leaf = 0; leaf < row_group->num_columns(); ++leaf) {
      std::unique_ptr<parquet::ColumnChunkMetaData> chunk = row_group->ColumnChunk(leaf);
      boundaries.push_back(first_page_offset(*chunk));
      if (std::optional<parquet::IndexLocation> place = chunk->GetColumnIndexLocation()) boundaries.push_back(place->offset);
      if (std::optional<parquet::IndexLocation> place = chunk->GetOffsetIndexLocation()) boundaries.push_back(place->offset);
      if (std::optional<int64_t> place = chunk->bloom_filter_offset()) boundaries.push_back(*place);
    }
  }
  std::sort(boundaries.begin(), boundaries.end());
  return boundaries;
}

// A chunk with rows has pages, whatever size the footer claims: one of 0 bytes extends to the next known offset in the file. Early writers
// did not count the header of the dictionary page; the page walk stops at the last row, so a few extra bytes are harmless.
int64_t pages_length(int64_t begin, int64_t claimed, int64_t rows, const std::vector<int64_t>& boundaries) {
  constexpr int64_t kLongestDictionaryHeader = 100;
  const auto next = std::upper_bound(boundaries.begin(), boundaries.end(), begin);
  if (claimed < 0 || rows == 0 || next == boundaries.end() || *next - begin <= claimed) return claimed;
  return claimed == 0 ? *next - begin : std::min(*next - begin, claimed + kLongestDictionaryHeader);
}

ColumnChunkInfo read_column_chunk(const parquet::ColumnChunkMetaData& chunk, const RawStatistics& statistics, const ParquetColumn& column,
                                  const RowGroupInfo& group, const std::vector<int64_t>& boundaries, int64_t file_size,
                                  const DataLocation& where) {
  ColumnChunkInfo info;
  const int64_t begin = first_page_offset(chunk);
  info.pages = {begin, pages_length(begin, chunk.total_compressed_size(), group.rows, boundaries)};
  if (!inside_file(info.pages.offset, info.pages.length, file_size)) {
    throw DataError(fmt::format("column chunk of {} bytes at {} is outside the file of {} bytes", info.pages.length, begin, file_size),
                    where);
  }
  info.dictionary_bytes = std::clamp<int64_t>(chunk.data_page_offset() - begin, 0, info.pages.length);
  info.values = chunk.num_values();
  if (info.values < 0) throw DataError(fmt::format("column chunk has {} values", info.values), where);
  if (column.is_supported() && info.values != group.rows) {
    throw DataError(fmt::format("column chunk has {} values for {} rows", info.values, group.rows), where);
  }
  if (column.is_supported() && group.rows / kLargestPageRows > info.pages.length / kSmallestPage)
    throw DataError(fmt::format("{} rows do not fit in {} bytes of pages", group.rows, info.pages.length), where);
  info.uncompressed_bytes = chunk.total_uncompressed_size();
  if (info.uncompressed_bytes < 0) throw DataError("column chunk has a negative size", where);
  info.codec = codec_of(chunk.compression());
  // Incompressible pages grow slightly. A size far below the compressed one is wrong, and this guess replaces it.
  info.has_uncompressed_bytes = info.uncompressed_bytes >= chunk.total_compressed_size() / 2 && info.uncompressed_bytes > 0;
  if (!info.has_uncompressed_bytes) info.uncompressed_bytes = info.pages.length * kGuessedCompression;
  for (parquet::Encoding::type encoding : chunk.encodings()) info.encodings.push_back(static_cast<PageEncoding>(encoding));
  info.offset_index = checked_index(chunk.GetOffsetIndexLocation(), file_size);
  info.column_index = checked_index(chunk.GetColumnIndexLocation(), file_size);
  if (std::optional<int64_t> offset = chunk.bloom_filter_offset(); offset && *offset > 0 && *offset < file_size) {
    info.bloom_filter = {*offset, chunk.bloom_filter_length().value_or(0)};
    if (!inside_file(*offset, info.bloom_filter.length, file_size)) info.bloom_filter = {};
  }
  read_statistics(chunk, statistics, column, info);
  return info;
}

// Fills a footer from Arrow's form of it. Errors name the row group and the column.
class FooterBuilder {
 public:
  FooterBuilder(ParquetFooter& footer, int64_t file_size, std::span<const uint8_t> bytes)
      : footer_(footer), file_size_(file_size), bytes_(bytes) {}

  void build() {
    if (schema_depth(bytes_, kDeepestSchema) > kDeepestSchema)
      throw DataError(fmt::format("the schema has more than {} levels of nested groups", kDeepestSchema), {footer_.path});
    const std::shared_ptr<parquet::FileMetaData> metadata = arrow_metadata();
    if (metadata->is_encryption_algorithm_set()) throw DataError("the file is encrypted, which is not supported", {footer_.path});
    footer_.arrow_metadata = metadata;
    footer_.created_by = metadata->created_by();
    footer_.columns = parquet_columns(*metadata->schema());
    refuse_repeated_names(footer_);
    statistics_ = read_raw_statistics(bytes_);
    boundaries_ = find_boundaries(*metadata, file_size_ - kTrailerBytes - static_cast<int64_t>(bytes_.size()));
    for (int index = 0; index < metadata->num_row_groups(); ++index) add_row_group(*metadata->RowGroup(index), index);
    // Some writers leave the total at 0; the row groups have the correct counts.
    if (footer_.rows != metadata->num_rows() && metadata->num_rows() != 0) {
      throw DataError(fmt::format("the footer claims {} rows, its row groups have {}", metadata->num_rows(), footer_.rows), {footer_.path});
    }
    for (ByteRange ColumnChunkInfo::*place :
         {&ColumnChunkInfo::column_index, &ColumnChunkInfo::offset_index, &ColumnChunkInfo::bloom_filter})
      ignore_shared_places(footer_, place);
  }

 private:
  // Thrift's own limits keep a wrong count from allocating more than the bytes could hold.
  std::shared_ptr<parquet::FileMetaData> arrow_metadata() const {
    const auto limit = static_cast<int32_t>(std::min<int64_t>(bytes_.size(), INT32_MAX));
    parquet::ReaderProperties properties;
    properties.set_thrift_string_size_limit(limit);
    properties.set_thrift_container_size_limit(limit);
    uint32_t length = static_cast<uint32_t>(bytes_.size());
    return parquet::FileMetaData::Make(bytes_.data(), &length, properties);
  }

  void add_row_group(const parquet::RowGroupMetaData& arrow_group, int index) {
    RowGroupInfo group;
    group.rows = arrow_group.num_rows();
    group.first_row = footer_.rows;
    if (group.rows < 0 || group.rows > INT64_MAX - footer_.rows)
      throw DataError(fmt::format("row group has {} rows", group.rows), {footer_.path, index});
    if (arrow_group.num_columns() != static_cast<int>(footer_.columns.size())) {
      throw DataError(fmt::format("row group has {} columns, the schema {}", arrow_group.num_columns(), footer_.columns.size()),
                      {footer_.path, index});
    }
    footer_.rows += group.rows;
    group.columns.reserve(footer_.columns.size());
    for (const ParquetColumn& column : footer_.columns)
      add_column_chunk(*arrow_group.ColumnChunk(column.leaf), column, {footer_.path, index, column.name}, group);
    footer_.row_groups.push_back(std::move(group));
  }

  void add_column_chunk(const parquet::ColumnChunkMetaData& chunk, const ParquetColumn& column, const DataLocation& where,
                        RowGroupInfo& group) {
    if (chunk.file_path() != "") throw DataError("column chunk is in another file, which is not supported", where);
    const auto statistics = statistics_of(statistics_, static_cast<int>(where.row_group), column.leaf);
    group.columns.push_back(read_column_chunk(chunk, statistics, column, group, boundaries_, file_size_, where));
    // Chunks do not share bytes; twice the file size leaves room for writers that count slightly wrong.
    page_bytes_ += chunk.total_compressed_size() > 0 ? chunk.total_compressed_size() : group.columns.back().pages.length;
    if (page_bytes_ / 2 > file_size_)
      throw DataError(fmt::format("the column chunks claim more than the file's {} bytes", file_size_), where);
  }

  ParquetFooter& footer_;
  const int64_t file_size_;
  const std::span<const uint8_t> bytes_;
  std::vector<std::vector<RawStatistics>> statistics_;
  std::vector<int64_t> boundaries_;
  int64_t page_bytes_ = 0;
};

}  // namespace

std::string_view codec_name(PageCodec codec) {
  switch (codec) {
    case PageCodec::Uncompressed: return "UNCOMPRESSED";
    case PageCodec::Snappy: return "SNAPPY";
    case PageCodec::Gzip: return "GZIP";
    case PageCodec::Brotli: return "BROTLI";
    case PageCodec::Zstd: return "ZSTD";
    case PageCodec::Lz4Raw: return "LZ4_RAW";
    case PageCodec::Lz4Hadoop: return "LZ4";
    case PageCodec::Unsupported: return "UNSUPPORTED";
  }
  return "?";
}

std::string encoding_name(PageEncoding encoding) {
  switch (encoding) {
    case PageEncoding::Plain: return "PLAIN";
    case PageEncoding::PlainDictionary: return "PLAIN_DICTIONARY";
    case PageEncoding::Rle: return "RLE";
    case PageEncoding::BitPacked: return "BIT_PACKED";
    case PageEncoding::DeltaBinaryPacked: return "DELTA_BINARY_PACKED";
    case PageEncoding::DeltaLengthByteArray: return "DELTA_LENGTH_BYTE_ARRAY";
    case PageEncoding::DeltaByteArray: return "DELTA_BYTE_ARRAY";
    case PageEncoding::RleDictionary: return "RLE_DICTIONARY";
    case PageEncoding::ByteStreamSplit: return "BYTE_STREAM_SPLIT";
  }
  return fmt::format("encoding {}", static_cast<int32_t>(encoding));
}

int ParquetFooter::find_column(std::string_view name) const {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == name) return static_cast<int>(i);
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    if (same_name(columns[i].name, name)) return static_cast<int>(i);
  }
  return -1;
}

ByteRange locate_footer(const std::string& path, int64_t file_size, std::span<const uint8_t> last_bytes) {
  if (file_size < kTrailerBytes + 4 || last_bytes.size() < kTrailerBytes) {
    throw DataError(fmt::format("a file of {} bytes is too short for Parquet", file_size), {path});
  }
  const uint8_t* trailer = last_bytes.data() + last_bytes.size() - kTrailerBytes;
  if (std::memcmp(trailer + 4, "PARE", 4) == 0) throw DataError("the footer is encrypted, which is not supported", {path});
  if (std::memcmp(trailer + 4, "PAR1", 4) != 0)
    throw DataError("not a Parquet file, or cut short: it does not end in PAR1", {path, -1, "", file_size - 4});
  uint32_t length = 0;
  std::memcpy(&length, trailer, 4);
  if (length == 0 || length > file_size - kTrailerBytes - 4) {
    throw DataError(fmt::format("the footer claims {} bytes in a file of {}", length, file_size),
                    {path, -1, "", file_size - kTrailerBytes});
  }
  return {file_size - kTrailerBytes - length, length};
}

std::shared_ptr<const ParquetFooter> parse_footer(const std::string& path, int64_t file_size, std::span<const uint8_t> bytes) {
  auto footer = std::make_shared<ParquetFooter>();
  footer->path = path;
  try {
    FooterBuilder(*footer, file_size, bytes).build();
  } catch (const MalformedThrift& problem) {
    throw DataError(fmt::format("the footer cannot be read: {}", problem.what()), {path});
  } catch (const parquet::ParquetException& problem) {
    throw DataError(fmt::format("the footer cannot be read: {}", problem.what()), {path});
  } catch (const std::length_error&) {
    throw DataError("the footer cannot be read: a count is too large", {path});
  } catch (const std::bad_alloc&) {
    throw DataError("the footer cannot be read: a count is too large", {path});
  }
  // Our structs and Arrow's together take about eight times the serialized size.
  footer->memory_bytes = static_cast<int64_t>(bytes.size()) * 8 + 4096;
  return footer;
}

}  // namespace pistachio
