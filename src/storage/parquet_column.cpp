#include "storage/parquet_column.h"

#include <fmt/format.h>
#include <parquet/schema.h>
#include <parquet/types.h>

#include <cstring>

#include "kernels/ops/plain_fixed_bytes_decode.h"

namespace pistachio {

namespace {

PhysicalType physical_type_of(parquet::Type::type type) {
  switch (type) {
    case parquet::Type::BOOLEAN: return PhysicalType::Boolean;
    case parquet::Type::INT32: return PhysicalType::Int32;
    case parquet::Type::INT64: return PhysicalType::Int64;
    case parquet::Type::INT96: return PhysicalType::Int96;
    case parquet::Type::FLOAT: return PhysicalType::Float;
    case parquet::Type::DOUBLE: return PhysicalType::Double;
    case parquet::Type::FIXED_LEN_BYTE_ARRAY: return PhysicalType::FixedBytes;
    default: return PhysicalType::ByteArray;
  }
}

struct Meaning {
  LogicalType type;
  ValueConversion conversion = ValueConversion::None;
};

Meaning meaning_of_physical(PhysicalType physical) {
  switch (physical) {
    case PhysicalType::Boolean: return {TypeKind::Boolean};
    case PhysicalType::Int32: return {TypeKind::Integer};
    case PhysicalType::Int64: return {TypeKind::BigInt};
    case PhysicalType::Int96: return {TypeKind::Timestamp, ValueConversion::Int96Timestamp};
    case PhysicalType::Float: return {TypeKind::Real};
    case PhysicalType::Double: return {TypeKind::Double};
    case PhysicalType::ByteArray: return {TypeKind::Blob};
    case PhysicalType::FixedBytes: return {TypeKind::Blob, ValueConversion::BytesToBlob};
  }
  return {TypeKind::Blob};
}

Meaning integer_meaning(const parquet::IntLogicalType& type, PhysicalType physical) {
  bool is_32 = physical == PhysicalType::Int32;
  switch (type.bit_width()) {
    case 8:
      return type.is_signed() ? Meaning{TypeKind::TinyInt, ValueConversion::NarrowInteger}
                              : Meaning{TypeKind::SmallInt, ValueConversion::Unsigned8};
    case 16:
      return type.is_signed() ? Meaning{TypeKind::SmallInt, ValueConversion::NarrowInteger}
                              : Meaning{TypeKind::Integer, ValueConversion::Unsigned16};
    case 32: return type.is_signed() ? Meaning{TypeKind::Integer} : Meaning{TypeKind::BigInt, ValueConversion::Unsigned32};
    default: break;
  }
  if (is_32) return {TypeKind::Integer};
  return type.is_signed() ? Meaning{TypeKind::BigInt} : Meaning{LogicalType::decimal(20, 0), ValueConversion::Unsigned64};
}

Meaning time_meaning(parquet::LogicalType::TimeUnit::unit unit, TypeKind micros, TypeKind nanos) {
  switch (unit) {
    case parquet::LogicalType::TimeUnit::MILLIS: return {micros, ValueConversion::MillisToMicros};
    case parquet::LogicalType::TimeUnit::NANOS: return {nanos};
    default: return {micros};
  }
}

Meaning decimal_meaning(const parquet::DecimalLogicalType& decimal, PhysicalType physical, std::string& unsupported) {
  if (decimal.precision() < 1 || decimal.precision() > 38 || decimal.scale() < 0 || decimal.scale() > decimal.precision()) {
    unsupported =
        fmt::format("DECIMAL({},{}) is outside 1 <= precision <= 38, 0 <= scale <= precision", decimal.precision(), decimal.scale());
    return {TypeKind::Blob};
  }
  LogicalType type = LogicalType::decimal(decimal.precision(), decimal.scale());
  if (physical == PhysicalType::Int64 && !type.is_wide()) return {type};
  if (physical == PhysicalType::Int32 || physical == PhysicalType::Int64) return {type, ValueConversion::WidenDecimal};
  return {type, ValueConversion::BytesToDecimal};
}

Meaning meaning_of(const parquet::ColumnDescriptor& descriptor, PhysicalType physical, std::string& unsupported) {
  const std::shared_ptr<const parquet::LogicalType>& logical = descriptor.logical_type();
  if (logical == nullptr || !logical->is_valid() || logical->is_none()) return meaning_of_physical(physical);
  switch (logical->type()) {
    case parquet::LogicalType::Type::STRING:
    case parquet::LogicalType::Type::ENUM:
    case parquet::LogicalType::Type::JSON:
      return physical == PhysicalType::FixedBytes ? Meaning{TypeKind::Varchar, ValueConversion::BytesToBlob} : Meaning{TypeKind::Varchar};
    case parquet::LogicalType::Type::DECIMAL:
      return decimal_meaning(static_cast<const parquet::DecimalLogicalType&>(*logical), physical, unsupported);
    case parquet::LogicalType::Type::DATE: return {TypeKind::Date};
    case parquet::LogicalType::Type::TIME:
      return time_meaning(static_cast<const parquet::TimeLogicalType&>(*logical).time_unit(), TypeKind::Time, TypeKind::TimeNs);
    case parquet::LogicalType::Type::TIMESTAMP: {
      const auto& timestamp = static_cast<const parquet::TimestampLogicalType&>(*logical);
      if (timestamp.is_adjusted_to_utc()) return time_meaning(timestamp.time_unit(), TypeKind::TimestampTz, TypeKind::TimestampTzNs);
      return time_meaning(timestamp.time_unit(), TypeKind::Timestamp, TypeKind::TimestampNs);
    }
    case parquet::LogicalType::Type::INT: return integer_meaning(static_cast<const parquet::IntLogicalType&>(*logical), physical);
    case parquet::LogicalType::Type::UUID: return {TypeKind::Varchar, ValueConversion::Uuid};
    case parquet::LogicalType::Type::FLOAT16: return {TypeKind::Real, ValueConversion::Float16};
    case parquet::LogicalType::Type::INTERVAL: return {TypeKind::Interval, ValueConversion::BytesToInterval};
    default: return meaning_of_physical(physical);
  }
}

// Conversions rely on these widths; a schema with others must not reach the kernels.
std::string check_widths(const ParquetColumn& column) {
  auto needs = [&](int width) {
    return column.physical == PhysicalType::FixedBytes && column.fixed_width == width
               ? std::string()
               : fmt::format("its values are not of {} bytes", width);
  };
  switch (column.conversion) {
    case ValueConversion::Uuid: return needs(16);
    case ValueConversion::Float16: return needs(2);
    case ValueConversion::BytesToInterval: return needs(12);
    default: break;
  }
  if (column.physical == PhysicalType::FixedBytes && (column.fixed_width < 1 || column.fixed_width > kernels::kLargestFixedWidth)) {
    return fmt::format("its values are of {} bytes, which is not between 1 and {}", column.fixed_width, kernels::kLargestFixedWidth);
  }
  return {};
}

template <typename Value>
bool read_value(std::string_view bytes, Value& value) {
  if (bytes.size() != sizeof(Value)) return false;
  std::memcpy(&value, bytes.data(), sizeof(Value));
  return true;
}

// A bound that is no value of the column's type belongs to another type or is a writer bug.
bool fits_type(const ParquetColumn& column, Int128 value) {
  auto between = [&](Int128 least, Int128 greatest) { return value >= least && value <= greatest; };
  switch (column.conversion) {
    case ValueConversion::Unsigned8: return between(0, 255);
    case ValueConversion::Unsigned16: return between(0, 65535);
    default: break;
  }
  switch (column.type.kind()) {
    case TypeKind::TinyInt: return between(INT8_MIN, INT8_MAX);
    case TypeKind::SmallInt: return between(INT16_MIN, INT16_MAX);
    default: return true;
  }
}

}  // namespace

bool has_signed_order(const ParquetColumn& column) {
  return column.physical != PhysicalType::ByteArray && column.physical != PhysicalType::FixedBytes &&
         column.conversion != ValueConversion::Unsigned32 && column.conversion != ValueConversion::Unsigned64;
}

std::string_view physical_type_name(PhysicalType type) {
  switch (type) {
    case PhysicalType::Boolean: return "BOOLEAN";
    case PhysicalType::Int32: return "INT32";
    case PhysicalType::Int64: return "INT64";
    case PhysicalType::Int96: return "INT96";
    case PhysicalType::Float: return "FLOAT";
    case PhysicalType::Double: return "DOUBLE";
    case PhysicalType::ByteArray: return "BYTE_ARRAY";
    case PhysicalType::FixedBytes: return "FIXED_LEN_BYTE_ARRAY";
  }
  return "?";
}

std::vector<ParquetColumn> parquet_columns(const parquet::SchemaDescriptor& schema) {
  std::vector<ParquetColumn> columns;
  columns.reserve(static_cast<size_t>(schema.num_columns()));
  for (int leaf = 0; leaf < schema.num_columns(); ++leaf) {
    const parquet::ColumnDescriptor& descriptor = *schema.Column(leaf);
    ParquetColumn column;
    column.name = descriptor.path()->ToDotString();
    column.leaf = leaf;
    column.physical = physical_type_of(descriptor.physical_type());
    column.fixed_width = column.physical == PhysicalType::FixedBytes ? descriptor.type_length() : 0;
    column.max_definition = descriptor.max_definition_level();
    column.has_type_order = descriptor.column_order().get_order() == parquet::ColumnOrder::TYPE_DEFINED_ORDER;
    column.only_nulls = descriptor.logical_type() != nullptr && descriptor.logical_type()->is_null();
    Meaning meaning = meaning_of(descriptor, column.physical, column.unsupported);
    column.type = meaning.type;
    column.conversion = meaning.conversion;
    if (column.unsupported.empty()) column.unsupported = check_widths(column);
    if (descriptor.max_repetition_level() > 0) column.unsupported = "it is nested in a list or map, which cannot be read yet";
    columns.push_back(std::move(column));
  }
  return columns;
}

ScalarValue decode_statistic(const ParquetColumn& column, std::string_view encoded) {
  ScalarValue none = ScalarValue::null(column.type);
  if (column.only_nulls) return none;
  if (!column.has_type_order && !has_signed_order(column)) return none;
  Int128 integer = 0;
  switch (column.physical) {
    case PhysicalType::Boolean: {
      uint8_t value = 0;
      if (!read_value(encoded, value) || value > 1) return none;
      return ScalarValue::of_integer(column.type, value);
    }
    case PhysicalType::Float: {
      float value = 0;
      if (!read_value(encoded, value)) return none;
      return ScalarValue::of_floating(column.type, value);
    }
    case PhysicalType::Double: {
      double value = 0;
      if (!read_value(encoded, value)) return none;
      return ScalarValue::of_floating(column.type, value);
    }
    case PhysicalType::Int32: {
      int32_t value = 0;
      if (!read_value(encoded, value)) return none;
      integer = value;
      if (column.conversion == ValueConversion::Unsigned32) integer = static_cast<uint32_t>(value);
      break;
    }
    case PhysicalType::Int64: {
      int64_t value = 0;
      if (!read_value(encoded, value)) return none;
      integer = value;
      if (column.conversion == ValueConversion::Unsigned64) integer = static_cast<uint64_t>(value);
      break;
    }
    case PhysicalType::ByteArray:
    case PhysicalType::FixedBytes:
      if (column.conversion == ValueConversion::BytesToDecimal) {
        if (encoded.empty() || encoded.size() > 16) return none;
        if (column.physical == PhysicalType::FixedBytes && encoded.size() != static_cast<size_t>(column.fixed_width)) return none;
        integer = static_cast<signed char>(encoded[0]);
        for (char byte : encoded.substr(1)) integer = integer * 256 + static_cast<unsigned char>(byte);
        return ScalarValue::of_integer(column.type, integer);
      }
      if (!column.type.is_text() || column.conversion == ValueConversion::Uuid) return none;
      return ScalarValue::of_text(column.type, std::string(encoded));
    case PhysicalType::Int96: return none;
  }
  if (!fits_type(column, integer)) return none;
  if (column.conversion == ValueConversion::MillisToMicros) integer *= 1000;
  if (column.micros_to_nanos) integer *= 1000;
  return ScalarValue::of_integer(column.type, integer);
}

}  // namespace pistachio
