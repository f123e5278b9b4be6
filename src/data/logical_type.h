// Logical types: what a value means to the user. Their representation in tensors:
//   Boolean                      bool
//   TinyInt .. BigInt            int8 .. int64
//   Real, Double                 float32, float64
//   Decimal(p <= 18, s)          int64, scaled by 10^s
//   Decimal(p <= 38, s)          int64 [rows, 2]: low word (unsigned), high word (signed)
//   Date                         int32, days since 1970-01-01
//   Time                         int64, microseconds since midnight
//   Timestamp, TimestampTz       int64, microseconds since 1970-01-01 (TimestampTz: UTC)
//   TimeNs                       int64, nanoseconds since midnight
//   TimestampNs, TimestampTzNs   int64, nanoseconds since 1970-01-01 (TimestampTzNs: UTC): 1677-09-21 to 2262-04-11
//   Interval                     int64 [rows, 2]: microseconds; months (upper half) and days (lower half)
//   Varchar, Blob                bytes plus begin and end of each value (data/column.h)
#pragma once

#include <c10/core/ScalarType.h>

#include <cstdint>
#include <string>

namespace pistachio {

enum class TypeKind : uint8_t {
  Boolean,
  TinyInt,
  SmallInt,
  Integer,
  BigInt,
  Real,
  Double,
  Decimal,
  Date,
  Time,
  Timestamp,
  TimestampTz,
  TimeNs,
  TimestampNs,
  TimestampTzNs,
  Interval,
  Varchar,
  Blob
};

class LogicalType {
 public:
  LogicalType(TypeKind kind) : kind_(kind) {}  // NOLINT: a kind is a type, except for decimals
  static LogicalType decimal(int precision, int scale);

  TypeKind kind() const { return kind_; }
  int precision() const { return precision_; }
  int scale() const { return scale_; }

  bool is_text() const { return kind_ == TypeKind::Varchar || kind_ == TypeKind::Blob; }
  // Two 64-bit words per value.
  bool is_wide() const { return (kind_ == TypeKind::Decimal && precision_ > 18) || kind_ == TypeKind::Interval; }
  bool is_floating() const { return kind_ == TypeKind::Real || kind_ == TypeKind::Double; }
  bool has_nanoseconds() const { return kind_ == TypeKind::TimeNs || kind_ == TypeKind::TimestampNs || kind_ == TypeKind::TimestampTzNs; }

  // The element type of the values tensor; for text, of the bytes.
  c10::ScalarType scalar_type() const;
  // Bytes of one value in the values tensor; for text, 0.
  int64_t value_bytes() const;

  std::string to_string() const;
  bool operator==(const LogicalType&) const = default;

 private:
  TypeKind kind_;
  uint8_t precision_ = 0;
  uint8_t scale_ = 0;
};

// The nanosecond variant of a timestamp or time of day, and back; other types unchanged.
LogicalType in_nanoseconds(LogicalType type);
LogicalType in_microseconds(LogicalType type);

}  // namespace pistachio
