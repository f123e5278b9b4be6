// Which types the values of a sample could have, and the type to read a column as. The order of preference is DuckDB's: BOOLEAN, BIGINT,
// DECIMAL(38, 0) for longer integers, DOUBLE, TIME, DATE, TIMESTAMP, TIMESTAMP WITH TIME ZONE, VARCHAR. Pure; one thread per object.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "data/logical_type.h"
#include "readers/text_dialect.h"

namespace pistachio {

class ValueShapes {
 public:
  // A value that is not NULL.
  void add(std::string_view text);
  // JSON's values have kinds of their own.
  void add_any_text() { add_shapes(0); }
  void add_boolean() { add_shapes(kBoolean); }
  void add_number(std::string_view text) { add_shapes(number_shapes(text)); }
  // A string, which may be a date or a time, never a number.
  void add_moment(std::string_view text);

  bool has_values() const { return has_values_; }
  // Merges what another sample of the same column found.
  void merge(const ValueShapes& other);
  // Whether the values so far allow this order of dates, and have dates in it.
  bool may_have(DateOrder order) const;
  bool needs_date_order() const { return has_values_ && (possible_ & kMoments) != 0 && (possible_ & kIsoMoments) == 0; }
  // The type of the column; VARCHAR without values.
  LogicalType type(DateOrder order) const;

 private:
  enum Shape : uint32_t {
    kBoolean = 1U << 0,
    kInteger = 1U << 1,
    kLongInteger = 1U << 2,
    kNumber = 1U << 3,
    kTime = 1U << 4,
    kDate = 1U << 5,  // and the next two bits, by DateOrder
    kTimestamp = 1U << 8,
    kZonedTimestamp = 1U << 11,
  };
  static constexpr uint32_t kIsoMoments = kDate | kTimestamp | kZonedTimestamp;
  static constexpr uint32_t kMoments = 7U * kIsoMoments;

  void add_shapes(uint32_t shapes) {
    possible_ &= shapes;
    has_values_ = true;
  }
  static uint32_t shapes_of(std::string_view text);
  static uint32_t number_shapes(std::string_view text);
  static uint32_t moment_shapes(std::string_view text);

  uint32_t possible_ = UINT32_MAX;
  bool has_values_ = false;
};

// One order for the dates of all columns, so that 01/02/2020 is read as 13/02/2020 beside it.
DateOrder date_order_of(const std::vector<ValueShapes>& shapes);

}  // namespace pistachio
