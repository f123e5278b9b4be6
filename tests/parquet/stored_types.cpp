// The table of stored types: what the format can store and what the engine must read it as.
#include <algorithm>
#include <stdexcept>

#include "tests/parquet/parquet_file_factory.h"

namespace pistachio::test {

namespace {

using parquet::Type;
using Annotation = parquet::LogicalType;
using Unit = Annotation::TimeUnit;

std::vector<StoredType> make_stored_types() {
  return {
      {"boolean", Type::BOOLEAN, Annotation::None(), -1, TypeKind::Boolean},
      {"int8", Type::INT32, Annotation::Int(8, true), -1, TypeKind::TinyInt},
      {"int16", Type::INT32, Annotation::Int(16, true), -1, TypeKind::SmallInt},
      {"int32", Type::INT32, Annotation::Int(32, true), -1, TypeKind::Integer},
      {"int64", Type::INT64, Annotation::Int(64, true), -1, TypeKind::BigInt},
      {"bare_int32", Type::INT32, Annotation::None(), -1, TypeKind::Integer},
      {"bare_int64", Type::INT64, Annotation::None(), -1, TypeKind::BigInt},
      {"uint8", Type::INT32, Annotation::Int(8, false), -1, TypeKind::SmallInt},
      {"uint16", Type::INT32, Annotation::Int(16, false), -1, TypeKind::Integer},
      {"uint32", Type::INT32, Annotation::Int(32, false), -1, TypeKind::BigInt},
      {"uint64", Type::INT64, Annotation::Int(64, false), -1, LogicalType::decimal(20, 0)},
      {"float16", Type::FIXED_LEN_BYTE_ARRAY, Annotation::Float16(), 2, TypeKind::Real},
      {"float", Type::FLOAT, Annotation::None(), -1, TypeKind::Real},
      {"double", Type::DOUBLE, Annotation::None(), -1, TypeKind::Double},
      {"decimal_4_4_int32", Type::INT32, Annotation::Decimal(4, 4), -1, LogicalType::decimal(4, 4)},
      {"decimal_9_2_int32", Type::INT32, Annotation::Decimal(9, 2), -1, LogicalType::decimal(9, 2)},
      {"decimal_10_0_int64", Type::INT64, Annotation::Decimal(10, 0), -1, LogicalType::decimal(10, 0)},
      {"decimal_18_3_int64", Type::INT64, Annotation::Decimal(18, 3), -1, LogicalType::decimal(18, 3)},
      {"decimal_2_1_fixed1", Type::FIXED_LEN_BYTE_ARRAY, Annotation::Decimal(2, 1), 1, LogicalType::decimal(2, 1)},
      {"decimal_5_2_fixed3", Type::FIXED_LEN_BYTE_ARRAY, Annotation::Decimal(5, 2), 3, LogicalType::decimal(5, 2)},
      {"decimal_18_2_fixed8", Type::FIXED_LEN_BYTE_ARRAY, Annotation::Decimal(18, 2), 8, LogicalType::decimal(18, 2)},
      {"decimal_15_2_fixed16", Type::FIXED_LEN_BYTE_ARRAY, Annotation::Decimal(15, 2), 16, LogicalType::decimal(15, 2)},
      {"decimal_20_4_fixed9", Type::FIXED_LEN_BYTE_ARRAY, Annotation::Decimal(20, 4), 9, LogicalType::decimal(20, 4)},
      {"decimal_38_10_fixed16", Type::FIXED_LEN_BYTE_ARRAY, Annotation::Decimal(38, 10), 16, LogicalType::decimal(38, 10)},
      {"decimal_12_2_bytes", Type::BYTE_ARRAY, Annotation::Decimal(12, 2), -1, LogicalType::decimal(12, 2)},
      {"decimal_38_0_bytes", Type::BYTE_ARRAY, Annotation::Decimal(38, 0), -1, LogicalType::decimal(38, 0)},
      {"date", Type::INT32, Annotation::Date(), -1, TypeKind::Date},
      {"time_ms", Type::INT32, Annotation::Time(true, Unit::MILLIS), -1, TypeKind::Time},
      {"time_us", Type::INT64, Annotation::Time(false, Unit::MICROS), -1, TypeKind::Time},
      {"time_ns", Type::INT64, Annotation::Time(false, Unit::NANOS), -1, TypeKind::TimeNs},
      {"timestamp_ms", Type::INT64, Annotation::Timestamp(false, Unit::MILLIS), -1, TypeKind::Timestamp},
      {"timestamp_us", Type::INT64, Annotation::Timestamp(false, Unit::MICROS), -1, TypeKind::Timestamp},
      {"timestamp_ns", Type::INT64, Annotation::Timestamp(false, Unit::NANOS), -1, TypeKind::TimestampNs},
      {"timestamp_ms_utc", Type::INT64, Annotation::Timestamp(true, Unit::MILLIS), -1, TypeKind::TimestampTz},
      {"timestamp_us_utc", Type::INT64, Annotation::Timestamp(true, Unit::MICROS), -1, TypeKind::TimestampTz},
      {"timestamp_ns_utc", Type::INT64, Annotation::Timestamp(true, Unit::NANOS), -1, TypeKind::TimestampTzNs},
      {"int96", Type::INT96, Annotation::None(), -1, TypeKind::Timestamp},
      {"interval", Type::FIXED_LEN_BYTE_ARRAY, Annotation::Interval(), 12, TypeKind::Interval},
      {"string", Type::BYTE_ARRAY, Annotation::String(), -1, TypeKind::Varchar},
      {"long_text", Type::BYTE_ARRAY, Annotation::String(), -1, TypeKind::Varchar},
      {"enum", Type::BYTE_ARRAY, Annotation::Enum(), -1, TypeKind::Varchar},
      {"json", Type::BYTE_ARRAY, Annotation::JSON(), -1, TypeKind::Varchar},
      {"bson", Type::BYTE_ARRAY, Annotation::BSON(), -1, TypeKind::Blob},
      {"binary", Type::BYTE_ARRAY, Annotation::None(), -1, TypeKind::Blob},
      {"fixed1", Type::FIXED_LEN_BYTE_ARRAY, Annotation::None(), 1, TypeKind::Blob},
      {"fixed7", Type::FIXED_LEN_BYTE_ARRAY, Annotation::None(), 7, TypeKind::Blob},
      {"fixed40", Type::FIXED_LEN_BYTE_ARRAY, Annotation::None(), 40, TypeKind::Blob},
      {"uuid", Type::FIXED_LEN_BYTE_ARRAY, Annotation::UUID(), 16, TypeKind::Varchar},
  };
}

}  // namespace

const std::vector<StoredType>& stored_types() {
  static const std::vector<StoredType> types = make_stored_types();
  return types;
}

const StoredType& stored_type(const std::string& name) {
  const auto& types = stored_types();
  auto found = std::find_if(types.begin(), types.end(), [&](const StoredType& type) { return type.name == name; });
  if (found == types.end()) throw std::runtime_error("no stored type " + name);
  return *found;
}

std::vector<parquet::Encoding::type> encodings_of(Type::type physical) {
  using parquet::Encoding;
  switch (physical) {
    case Type::BOOLEAN: return {Encoding::PLAIN, Encoding::RLE};
    case Type::INT32:
    case Type::INT64: return {Encoding::PLAIN, Encoding::RLE_DICTIONARY, Encoding::DELTA_BINARY_PACKED, Encoding::BYTE_STREAM_SPLIT};
    case Type::INT96: return {Encoding::PLAIN, Encoding::RLE_DICTIONARY};
    case Type::FLOAT:
    case Type::DOUBLE: return {Encoding::PLAIN, Encoding::RLE_DICTIONARY, Encoding::BYTE_STREAM_SPLIT};
    case Type::BYTE_ARRAY:
      return {Encoding::PLAIN, Encoding::RLE_DICTIONARY, Encoding::DELTA_LENGTH_BYTE_ARRAY, Encoding::DELTA_BYTE_ARRAY};
    case Type::FIXED_LEN_BYTE_ARRAY:
      return {Encoding::PLAIN, Encoding::RLE_DICTIONARY, Encoding::DELTA_BYTE_ARRAY, Encoding::BYTE_STREAM_SPLIT};
    default: throw std::runtime_error("no such physical type");
  }
}

const std::vector<NullPattern>& null_patterns() {
  static const std::vector<NullPattern> patterns = {NullPattern::Required, NullPattern::None, NullPattern::Some,
                                                    NullPattern::Many,     NullPattern::All,  NullPattern::Runs};
  return patterns;
}

}  // namespace pistachio::test
