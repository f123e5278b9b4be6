#include "readers/value_shapes.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string>

#include "readers/moment_text.h"

namespace pistachio {

namespace {

bool is_all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char byte) { return byte >= '0' && byte <= '9'; });
}

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return lower;
}

constexpr DateOrder kOrders[] = {DateOrder::YearFirst, DateOrder::DayFirst, DateOrder::MonthFirst};

}  // namespace

void ValueShapes::add(std::string_view text) {
  has_values_ = true;
  if (possible_ != 0) possible_ &= shapes_of(text);
}

void ValueShapes::add_moment(std::string_view text) {
  constexpr size_t longest = 64;
  const bool may_be_moment = possible_ != 0 && !text.empty() && text.size() <= longest && text.front() >= '0' && text.front() <= '9';
  // Only as ISO 8601 writes them.
  add_shapes(may_be_moment ? moment_shapes(text) & (kIsoMoments | kTime) : 0);
}

void ValueShapes::merge(const ValueShapes& other) {
  if (!other.has_values_) return;
  possible_ &= other.possible_;
  has_values_ = true;
}

bool ValueShapes::may_have(DateOrder order) const {
  return (possible_ & (kIsoMoments << static_cast<uint32_t>(order))) != 0;
}

uint32_t ValueShapes::shapes_of(std::string_view text) {
  constexpr size_t longest = 64;
  if (text.empty() || text.size() > longest) return 0;
  const std::string_view inner = without_blanks(text);
  if (inner.empty()) return 0;
  const char first = inner.front();
  if ((first >= '0' && first <= '9') || first == '-' || first == '.') return number_shapes(inner) | moment_shapes(inner);
  if (text != inner) return 0;
  const std::string word = in_lower_case(text);
  if (word == "true" || word == "false" || word == "t" || word == "f" || word == "yes" || word == "no") return kBoolean;
  if (word == "nan" || word == "inf" || word == "infinity") return kNumber;
  return 0;
}

// Integers with leading zeros are rather numbers of parts or postcodes.
uint32_t ValueShapes::number_shapes(std::string_view text) {
  const std::string_view magnitude = text.front() == '-' ? text.substr(1) : text;
  if (magnitude.empty()) return 0;
  const bool has_leading_zero = magnitude.size() > 1 && magnitude[0] == '0' && magnitude[1] >= '0' && magnitude[1] <= '9';
  if (has_leading_zero) return 0;
  if (is_all_digits(magnitude)) {
    int64_t value = 0;
    const bool fits = std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc();
    if (fits) return kInteger | kLongInteger | kNumber;
    return magnitude.size() <= 38 ? kLongInteger | kNumber : kNumber;
  }
  const std::string word = in_lower_case(magnitude);
  if (word == "inf" || word == "infinity" || word == "nan") return kNumber;
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  return parsed.ptr == text.data() + text.size() && parsed.ec == std::errc() ? static_cast<uint32_t>(kNumber) : 0;
}

uint32_t ValueShapes::moment_shapes(std::string_view text) {
  if (text.size() < 4 || text.front() == '-') return 0;
  uint32_t shapes = read_time_text(text) ? static_cast<uint32_t>(kTime) : 0;
  for (DateOrder order : kOrders) {
    const auto place = static_cast<uint32_t>(order);
    if (read_date_text(text, order)) shapes |= (kDate | kTimestamp) << place;
    const auto moment = read_timestamp_text(text, order);
    if (moment) shapes |= (moment->has_zone ? kZonedTimestamp : kTimestamp) << place;
  }
  return shapes;
}

LogicalType ValueShapes::type(DateOrder order) const {
  if (!has_values_) return TypeKind::Varchar;
  if ((possible_ & kBoolean) != 0) return TypeKind::Boolean;
  if ((possible_ & kInteger) != 0) return TypeKind::BigInt;
  if ((possible_ & kLongInteger) != 0) return LogicalType::decimal(38, 0);
  if ((possible_ & kNumber) != 0) return TypeKind::Double;
  if ((possible_ & kTime) != 0) return TypeKind::Time;
  // The year first is never mistaken for another order.
  const uint32_t moments = (possible_ & kIsoMoments) != 0 ? possible_ : possible_ >> static_cast<uint32_t>(order);
  if ((moments & kDate) != 0) return TypeKind::Date;
  if ((moments & kTimestamp) != 0) return TypeKind::Timestamp;
  if ((moments & kZonedTimestamp) != 0) return TypeKind::TimestampTz;
  return TypeKind::Varchar;
}

DateOrder date_order_of(const std::vector<ValueShapes>& shapes) {
  auto needs = [](const ValueShapes& shape) { return shape.needs_date_order(); };
  auto may_be_day_first = [](const ValueShapes& shape) { return !shape.needs_date_order() || shape.may_have(DateOrder::DayFirst); };
  if (std::none_of(shapes.begin(), shapes.end(), needs)) return DateOrder::YearFirst;
  return std::all_of(shapes.begin(), shapes.end(), may_be_day_first) ? DateOrder::DayFirst : DateOrder::MonthFirst;
}

}  // namespace pistachio
