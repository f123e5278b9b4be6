// One leaf column of a Parquet schema as the engine sees it: its logical type, how its values are stored, and what turns stored
// values into logical ones. A column that cannot be read (nested, encrypted, odd decimals) stays in the list with the reason, so that
// the other columns of the file stay readable.
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
  None,            // stored as the logical type holds it
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
  BytesToDecimal,   // big-endian, fixed or of any length
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
  // Other files of the table have nanoseconds: what the conversion gives in microseconds is multiplied.
  bool micros_to_nanos = false;
  bool only_nulls = false;     // of logical type UNKNOWN: every value is NULL, whatever is stored
  bool has_type_order = true;  // its statistics follow the order of its type; old files do not say by which they were made
  std::string unsupported;     // why the column cannot be read; empty when it can

  bool is_supported() const { return unsupported.empty(); }
};

std::string_view physical_type_name(PhysicalType type);

std::vector<ParquetColumn> parquet_columns(const parquet::SchemaDescriptor& schema);

// Did writers before column orders, who compared bytes and numbers as signed ones, choose the same smallest and greatest?
bool has_signed_order(const ParquetColumn& column);

// A value as statistics and page indexes hold it (PLAIN, without length). Null when the bytes do not fit the type, or when the smallest
// and greatest may have been chosen by another order than the type's.
ScalarValue decode_statistic(const ParquetColumn& column, std::string_view encoded);

}  // namespace pistachio
