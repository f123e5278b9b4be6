#include "storage/bloom_filter.h"

#include <arrow/io/memory.h>
#include <parquet/bloom_filter.h>
#include <parquet/properties.h>

#include <optional>

#include "storage/thrift_compact_reader.h"

namespace pistachio {

namespace {

constexpr int64_t kBloomHeaderBytes = 64;
constexpr int64_t kLargestFilter = 128 << 20;

// Size of the filter including its header, from the header's first field.
std::optional<int64_t> filter_length(std::span<const uint8_t> bytes) {
  try {
    ThriftCompactReader reader(bytes);
    int64_t length = -1;
    int16_t last_id = 0;
    while (true) {
      ThriftCompactReader::Field field = reader.read_field(last_id);
      if (field.type == ThriftCompactReader::Type::Stop) break;
      if (field.id == 1 && field.type == ThriftCompactReader::Type::I32) {
        length = reader.read_integer();
      } else {
        reader.skip(field.type);
      }
      last_id = field.id;
    }
    if (length < 0 || length > kLargestFilter) return std::nullopt;
    return length + static_cast<int64_t>(reader.position());
  } catch (const MalformedThrift&) {
    return std::nullopt;
  }
}

std::optional<uint64_t> hash_of(const parquet::BloomFilter& filter, const ParquetColumn& column, const ScalarValue& value) {
  if (column.conversion != ValueConversion::None || column.micros_to_nanos) return std::nullopt;
  switch (column.physical) {
    case PhysicalType::Int32: return filter.Hash(static_cast<int32_t>(value.integer));
    case PhysicalType::Int64: return filter.Hash(static_cast<int64_t>(value.integer));
    case PhysicalType::ByteArray: return filter.Hash(std::string_view(value.text));
    default: return std::nullopt;  // floats: 0.0 and -0.0 are equal but hash differently
  }
}

// The chunk's minimum and maximum must be in its filter; else it is the filter of another column, or the bounds are not values.
bool holds_bounds(const parquet::BloomFilter& bloom, const ParquetColumn& column, const ColumnChunkInfo& chunk) {
  for (const std::optional<ScalarValue>* bound : {&chunk.minimum, &chunk.maximum}) {
    if (!*bound) continue;
    std::optional<uint64_t> hash = hash_of(bloom, column, **bound);
    if (hash && !bloom.FindHash(*hash)) return false;
  }
  return true;
}

}  // namespace

Task<bool> bloom_filter_may_match(ReadPool& pool, std::shared_ptr<DataFile> file, const ParquetColumn& column, const ColumnChunkInfo& chunk,
                                  const ColumnFilter& filter) {
  if (chunk.bloom_filter.offset == 0 || filter.kind != ColumnFilter::Kind::Compare || filter.comparison != Comparison::Equal)
    co_return true;
  ByteRange range = chunk.bloom_filter;
  if (range.length == 0) {
    ByteRange header_range{range.offset, std::min(kBloomHeaderBytes, file->size() - range.offset)};
    Task<at::Tensor> reading = pool.read_range(file, header_range);
    at::Tensor header = co_await reading;
    std::optional<int64_t> length = filter_length({header.const_data_ptr<uint8_t>(), static_cast<size_t>(header.numel())});
    if (!length || *length > file->size() - range.offset) co_return true;
    range.length = *length;
  }
  if (range.length > kLargestFilter) co_return true;
  Task<at::Tensor> reading = pool.read_range(file, range);
  at::Tensor bytes = co_await reading;
  try {
    arrow::io::BufferReader stream(std::make_shared<arrow::Buffer>(bytes.const_data_ptr<uint8_t>(), bytes.numel()));
    parquet::BlockSplitBloomFilter bloom =
        parquet::BlockSplitBloomFilter::Deserialize(parquet::default_reader_properties(), &stream, range.length);
    std::optional<uint64_t> hash = hash_of(bloom, column, filter.constant);
    co_return !hash || bloom.FindHash(*hash) || !holds_bounds(bloom, column, chunk);
  } catch (const std::exception&) {
    co_return true;
  }
}

}  // namespace pistachio
