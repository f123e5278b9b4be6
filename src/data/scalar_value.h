// One value of a logical type: filter constants, statistics, results of summaries. Not for data paths, which run on tensors.
// Everything represented by integers (booleans, integers, decimals by their scaled value, dates, times) is stored in `integer`.
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "data/logical_type.h"

namespace pistachio {

using Int128 = __int128;

struct ScalarValue {
  LogicalType type;
  bool is_null = false;
  Int128 integer = 0;
  double floating = 0;
  std::string text;

  static ScalarValue null(LogicalType type);
  static ScalarValue of_integer(LogicalType type, Int128 value);
  static ScalarValue of_floating(LogicalType type, double value);
  static ScalarValue of_text(LogicalType type, std::string value);

  bool is_text() const { return type.is_text(); }

  // As SQL prints it: 12.50, 1995-01-01, 1995-01-01 12:00:00.000001, true.
  std::string to_string() const;
};

// Order of two non-null values of the same type: text by bytes, NaN above every number and equal to itself (as in PostgreSQL).
std::strong_ordering compare(const ScalarValue& left, const ScalarValue& right);

// A constant parsed from text for a type. If it is between two values of the type (3.5 for an integer), `value` is the lower
// one and `exact` is false. Out-of-range values are clamped and set `below` or `above`.
struct ParsedConstant {
  ScalarValue value;
  bool exact = true;
  bool below = false;
  bool above = false;
};

// Throws UserError if the text is not a value of the type.
ParsedConstant parse_constant(LogicalType type, std::string_view text);

// Integer of up to 128 bits with `scale` digits after the point.
std::string format_scaled_integer(Int128 value, int scale);

}  // namespace pistachio
