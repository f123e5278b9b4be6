#include "data/logical_type.h"

#include "base/check.h"

namespace pistachio {

LogicalType LogicalType::decimal(int precision, int scale) {
  ENSURE(precision >= 1 && precision <= 38 && scale >= 0 && scale <= precision, "DECIMAL({}, {})", precision, scale);
  LogicalType type(TypeKind::Decimal);
  type.precision_ = static_cast<uint8_t>(precision);
  type.scale_ = static_cast<uint8_t>(scale);
  return type;
}

c10::ScalarType LogicalType::scalar_type() const {
  switch (kind_) {
    case TypeKind::Boolean: return c10::ScalarType::Bool;
    case TypeKind::TinyInt: return c10::ScalarType::Char;
    case TypeKind::SmallInt: return c10::ScalarType::Short;
    case TypeKind::Integer:
    case TypeKind::Date: return c10::ScalarType::Int;
    case TypeKind::BigInt:
    case TypeKind::Decimal:
    case TypeKind::Time:
    case TypeKind::Timestamp:
    case TypeKind::TimestampTz:
    case TypeKind::TimeNs:
    case TypeKind::TimestampNs:
    case TypeKind::TimestampTzNs:
    case TypeKind::Interval: return c10::ScalarType::Long;
    case TypeKind::Real: return c10::ScalarType::Float;
    case TypeKind::Double: return c10::ScalarType::Double;
    case TypeKind::Varchar:
    case TypeKind::Blob: return c10::ScalarType::Byte;
  }
  fail_check(__FILE__, __LINE__, "unknown type kind");
}

int64_t LogicalType::value_bytes() const {
  if (is_text()) return 0;
  return static_cast<int64_t>(c10::elementSize(scalar_type())) * (is_wide() ? 2 : 1);
}

std::string LogicalType::to_string() const {
  switch (kind_) {
    case TypeKind::Boolean: return "BOOLEAN";
    case TypeKind::TinyInt: return "TINYINT";
    case TypeKind::SmallInt: return "SMALLINT";
    case TypeKind::Integer: return "INTEGER";
    case TypeKind::BigInt: return "BIGINT";
    case TypeKind::Real: return "REAL";
    case TypeKind::Double: return "DOUBLE";
    case TypeKind::Decimal: return fmt::format("DECIMAL({},{})", precision_, scale_);
    case TypeKind::Date: return "DATE";
    case TypeKind::Time: return "TIME";
    case TypeKind::Timestamp: return "TIMESTAMP";
    case TypeKind::TimestampTz: return "TIMESTAMP WITH TIME ZONE";
    case TypeKind::TimeNs: return "TIME_NS";
    case TypeKind::TimestampNs: return "TIMESTAMP_NS";
    case TypeKind::TimestampTzNs: return "TIMESTAMPTZ_NS";
    case TypeKind::Interval: return "INTERVAL";
    case TypeKind::Varchar: return "VARCHAR";
    case TypeKind::Blob: return "BLOB";
  }
  fail_check(__FILE__, __LINE__, "unknown type kind");
}

LogicalType in_nanoseconds(LogicalType type) {
  switch (type.kind()) {
    case TypeKind::Time: return TypeKind::TimeNs;
    case TypeKind::Timestamp: return TypeKind::TimestampNs;
    case TypeKind::TimestampTz: return TypeKind::TimestampTzNs;
    default: return type;
  }
}

LogicalType in_microseconds(LogicalType type) {
  switch (type.kind()) {
    case TypeKind::TimeNs: return TypeKind::Time;
    case TypeKind::TimestampNs: return TypeKind::Timestamp;
    case TypeKind::TimestampTzNs: return TypeKind::TimestampTz;
    default: return type;
  }
}

}  // namespace pistachio
