#include "storage/unit_memory.h"

#include <algorithm>

#include "storage/page_decompressor.h"

namespace pistachio {

namespace {

// Bytes per row of conversions that need several temporary tensors.
int64_t conversion_row_bytes(const ParquetColumn& column, const ColumnChunkInfo& chunk) {
  constexpr int64_t kIndexBytes = 8;
  bool is_delta_text = std::find(chunk.encodings.begin(), chunk.encodings.end(), PageEncoding::DeltaByteArray) != chunk.encodings.end();
  int64_t gathered = column.physical == PhysicalType::FixedBytes && is_delta_text ? column.fixed_width * kIndexBytes : 0;
  switch (column.conversion) {
    case ValueConversion::Uuid: return gathered + 16 + 32 * (1 + 4 + 1);  // half bytes, their indices, the digits
    case ValueConversion::BytesToDecimal: {
      int64_t width = column.physical == PhysicalType::FixedBytes ? column.fixed_width : 16 * (2 * kIndexBytes + 3);
      return gathered + width;
    }
    case ValueConversion::BytesToInterval: return gathered + 12 + 3 * 8 * 3;
    case ValueConversion::Int96Timestamp: return 12;
    default: return gathered;
  }
}

}  // namespace

int64_t decompressed_bytes(const ColumnChunkInfo& chunk) {
  constexpr int64_t kMaxOfAnyCodec = 64 << 10;
  int64_t expansion = std::min(largest_expansion(chunk.codec), kMaxOfAnyCodec);
  int64_t most = 0;
  if (__builtin_mul_overflow(chunk.pages.length, expansion, &most)) most = INT64_MAX;
  return std::min(chunk.uncompressed_bytes, most);
}

int64_t decoded_row_bytes(const ParquetColumn& column) {
  // Bytes of text stay in the pages, except those produced by decoding.
  int64_t text = column.conversion == ValueConversion::Uuid          ? 36
                 : column.conversion == ValueConversion::BytesToBlob ? column.fixed_width
                                                                     : 0;
  return (column.type.is_text() ? 16 + text : column.type.value_bytes()) + 1;
}

double decoding_bytes(const ParquetColumn& column, const ColumnChunkInfo& chunk, int64_t rows) {
  double row = static_cast<double>(decoded_row_bytes(column)) * 1.5 + static_cast<double>(conversion_row_bytes(column, chunk));
  return static_cast<double>(rows) * row;
}

}  // namespace pistachio
