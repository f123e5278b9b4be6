// One leaf column of a Parquet schema: its logical type, its physical type and the conversion between them. A column that cannot be read
// (nested, encrypted, unusual decimals) stays in the list with the reason, so that the other columns of the file stay readable.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/scalar_value.h"

namespace parquet {
class ColumnDescriptor;
class SchemaDescriptor;
}  // namespace parquet

namespace pistachio {

enum class PhysicalType : uint8_t { Boolean, Int32, Int64, Int96, Float, Double, ByteArray, FixedBytes };

enum class ValueConversion : uint8_t {
  None,            // stored in the representation of the logical type
  NarrowInteger,   // INT32 to int8 or int16
  Unsigned8,       // INT32 to SMALLINT
  Unsigned16,      // INT32 to INTEGER
  Unsigned32,      // INT32 to BIGINT
  Unsigned64,      // INT64 to DECIMAL(20,0)
  WidenDecimal,    // INT32 or INT64 to the tensor of a decimal
  MillisToMicros,  // INT32 or INT64
  Int96Timestamp,
  Float16,
  Uuid,             // 16 bytes to text
  BytesToDecimal,   // big-endian, of fixed or variable length
  BytesToInterval,  // 12 bytes: months, days, milliseconds
  BytesToBlob,      // fixed-length bytes
};

struct ParquetColumn {
  std::string name;  // path with dots
  int leaf = 0;      // position among the leaves of the schema
  LogicalType type = TypeKind::Blob;
  PhysicalType physical = PhysicalType::ByteArray;
  int fixed_width = 0;     // of FixedBytes
  int max_definition = 0;  // 0: required
  ValueConversion conversion = ValueConversion::None;
  // Other files of the table have nanoseconds: converted values are multiplied by 1000.
  bool micros_to_nanos = false;
  bool only_nulls = false;     // logical type UNKNOWN: every value is NULL, whatever is stored
  bool has_type_order = true;  // statistics use the type's order; old files do not state theirs
  std::string unsupported;     // why the column cannot be read; else empty

  bool is_supported() const { return unsupported.empty(); }
};

std::string_view physical_type_name(PhysicalType type);

std::vector<ParquetColumn> parquet_columns(const parquet::SchemaDescriptor& schema);

// Whether the signed comparison of writers that predate column orders yields the same minimum and maximum as the type's order.
bool has_signed_order(const ParquetColumn& column);

// Decodes a value of statistics or page indexes (PLAIN, without length). Null if the bytes do not fit the type, or if the bounds may have
// been chosen by an order other than the type's.
ScalarValue decode_statistic(const ParquetColumn& column, std::string_view encoded);

}  // namespace pistachio
