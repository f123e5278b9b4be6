#include "readers/field_conversion.h"

#include <arrow/util/utf8.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "columns/row_selection.h"
#include "data/calendar.h"
#include "expr/parse_value.h"
#include "expr/text_builder.h"
#include "kernels/ops/tensor_functions.h"
#include "readers/csv_records.h"
#include "readers/json_records.h"
#include "readers/moment_text.h"

namespace pistachio {

namespace {

// The values of one slot, one row after the other.
class SlotValues {
 public:
  SlotValues(const FieldSource& source, size_t slot)
      : source_(source), spans_(source.table.column(slot)), null_texts_(source.dialect.null_texts) {
    only_empty_is_null_ = null_texts_.size() == 1 && null_texts_[0].empty() && source.dialect.quoted_may_be_null;
  }

  const FieldSpan& span(int64_t row) const { return spans_[row]; }
  bool is_null(const FieldSpan& span) const {
    if (span.is_missing()) return true;
    if (source_.escapes == FieldEscapes::Json) return false;
    if (only_empty_is_null_) return span.size() == 0;
    if (span.is_quoted() && !source_.dialect.quoted_may_be_null) return false;
    const std::string_view value = span.in(source_.text);
    return std::any_of(null_texts_.begin(), null_texts_.end(), [&](const std::string& text) { return value == text; });
  }
  // Valid until the next call.
  std::string_view value(const FieldSpan& span) {
    const std::string_view raw = span.in(source_.text);
    if (!span.is_escaped()) return raw;
    unescaped_.clear();
    append(span, [&](std::string_view piece) { unescaped_ += piece; });
    return unescaped_;
  }
  template <typename Append>
  void append(const FieldSpan& span, const Append& append) const {
    const std::string_view raw = span.in(source_.text);
    if (!span.is_escaped()) {
      append(raw);
    } else if (source_.escapes == FieldEscapes::Csv) {
      unescape_csv(source_.dialect, raw, append);
    } else {
      unescape_json(raw, append);
    }
  }

 private:
  const FieldSource& source_;
  const FieldSpan* spans_;
  const std::vector<std::string>& null_texts_;
  bool only_empty_is_null_;
  std::string unescaped_;
};

// A validity tensor that exists only if there are NULLs.
class ValidityBuilder {
 public:
  explicit ValidityBuilder(int64_t rows) : rows_(rows) {}
  void set_null(int64_t row) {
    if (!tensor_.defined()) {
      tensor_ = at::ones({rows_}, at::kBool);
      data_ = tensor_.mutable_data_ptr<bool>();
    }
    data_[row] = false;
  }
  at::Tensor take() { return std::move(tensor_); }

 private:
  int64_t rows_;
  at::Tensor tensor_;
  bool* data_ = nullptr;
};

std::string_view trimmed_blanks(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

template <typename Integer>
bool read_integer(std::string_view text, Integer& value) {
  text = trimmed_blanks(text);
  if (!text.empty() && text.front() == '+') {
    text.remove_prefix(1);
    if (!text.empty() && text.front() == '-') return false;
  }
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  return parsed.ec == std::errc() && parsed.ptr == end;
}

// Numbers of up to 15 characters: digits and power of ten are exact as doubles, so that the division rounds correctly.
bool read_short_number(std::string_view text, double& value) {
  constexpr double powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  const bool negative = !text.empty() && text.front() == '-';
  const std::string_view magnitude = text.substr(negative ? 1 : 0);
  if (magnitude.empty() || magnitude.size() > 15) return false;
  int64_t digits = 0;
  size_t behind_point = 0;
  bool has_point = false;
  for (char byte : magnitude) {
    const auto digit = static_cast<unsigned char>(byte - '0');
    if (digit <= 9) {
      digits = digits * 10 + digit;
      behind_point += has_point ? 1 : 0;
    } else if (byte == '.' && !has_point && magnitude.size() > 1) {
      has_point = true;
    } else {
      return false;
    }
  }
  value = static_cast<double>(digits) / powers[behind_point];
  if (negative) value = -value;
  return true;
}

// Without exceptions for what CAST refuses.
std::optional<ScalarValue> read_value(LogicalType type, std::string_view text) {
  try {
    return parse_value(type, text);
  } catch (const UserError&) {
    return std::nullopt;
  }
}

bool read_floating(LogicalType type, std::string_view text, double& value) {
  if (read_short_number(text, value)) return true;
  const std::optional<ScalarValue> parsed = read_value(type, text);
  if (parsed) value = parsed->floating;
  return parsed.has_value();
}

// Up to 18 digits with at most `scale` behind the point; others take the long way.
bool read_short_decimal(std::string_view text, int precision, int scale, int64_t& value) {
  constexpr int64_t powers[] = {1,
                                10,
                                100,
                                1000,
                                10000,
                                100000,
                                1000000,
                                10000000,
                                100000000,
                                1000000000,
                                10000000000,
                                100000000000,
                                1000000000000,
                                10000000000000,
                                100000000000000,
                                1000000000000000,
                                10000000000000000,
                                100000000000000000,
                                1000000000000000000};
  const bool negative = !text.empty() && text.front() == '-';
  const std::string_view magnitude = text.substr(negative ? 1 : 0);
  if (magnitude.empty() || magnitude.size() > 18) return false;
  int64_t digits = 0;
  int behind_point = -1;
  for (char byte : magnitude) {
    const auto digit = static_cast<unsigned char>(byte - '0');
    if (digit <= 9) {
      digits = digits * 10 + digit;
      if (behind_point >= 0) ++behind_point;
    } else if (byte == '.' && behind_point < 0 && magnitude.size() > 1) {
      behind_point = 0;
    } else {
      return false;
    }
  }
  const int missing = scale - std::max(behind_point, 0);
  if (missing < 0 || missing > 18) return false;
  const Int128 scaled = Int128{digits} * powers[missing];
  if (scaled >= Int128{powers[std::min(precision, 18)]}) return false;
  value = negative ? -static_cast<int64_t>(scaled) : static_cast<int64_t>(scaled);
  return true;
}

bool read_boolean(std::string_view text, bool& value) {
  if (text == "true" || text == "false") {
    value = text == "true";
    return true;
  }
  const std::optional<ScalarValue> parsed = read_value(TypeKind::Boolean, text);
  if (parsed) value = parsed->integer != 0;
  return parsed.has_value();
}

// 2020-01-02, the usual form, without a cursor.
bool read_plain_date(std::string_view text, int64_t& days) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  auto digit = [&](size_t place) { return static_cast<unsigned>(text[place] - '0'); };
  unsigned all = 0;
  for (size_t place : {0, 1, 2, 3, 5, 6, 8, 9}) all |= digit(place) > 9 ? 1U : 0U;
  const int64_t year = digit(0) * 1000 + digit(1) * 100 + digit(2) * 10 + digit(3);
  const int64_t month = digit(5) * 10 + digit(6);
  const int64_t day = digit(8) * 10 + digit(9);
  if (all != 0 || month < 1 || month > 12 || day < 1 || year < 1 || day > days_in_month(year, month)) return false;
  days = days_from_civil(year, month, day);
  return true;
}

bool read_date(std::string_view text, DateOrder order, int64_t& days) {
  if (read_plain_date(text, days)) return true;
  std::optional<int64_t> found = read_date_text(text, order);
  if (!found && order != DateOrder::YearFirst) found = read_date_text(text, DateOrder::YearFirst);
  if (!found) {
    if (const auto parsed = read_value(TypeKind::Date, text)) found = static_cast<int64_t>(parsed->integer);
  }
  days = found.value_or(0);
  return found.has_value();
}

bool read_timestamp(LogicalType type, std::string_view text, DateOrder order, int64_t& micros) {
  auto moment = read_timestamp_text(text, order);
  if (!moment && order != DateOrder::YearFirst) moment = read_timestamp_text(text, DateOrder::YearFirst);
  if (moment && (!moment->has_zone || type.kind() == TypeKind::TimestampTz)) {
    micros = moment->micros;
    return true;
  }
  if (int64_t days = 0; !moment && read_date(text, order, days)) {
    return !__builtin_mul_overflow(days, kDayMicros, &micros);
  }
  const std::optional<ScalarValue> parsed = read_value(type, text);
  if (parsed) micros = static_cast<int64_t>(parsed->integer);
  return parsed.has_value();
}

class SlotConversion {
 public:
  SlotConversion(const FieldSource& source, size_t slot, const std::string& name, LogicalType type, BadRows& bad)
      : source_(source), values_(source, slot), name_(name), type_(type), bad_(bad), rows_(source.table.rows()), validity_(rows_) {
    if (!source.is_ascii) arrow::util::InitializeUTF8();
  }

  Column convert() {
    const DateOrder order = source_.dialect.date_order;
    switch (type_.kind()) {
      case TypeKind::Varchar: return text();
      case TypeKind::Blob: return blob();
      case TypeKind::Boolean: return fixed<bool>(read_boolean);
      case TypeKind::TinyInt: return fixed<int8_t>(read_integer<int8_t>);
      case TypeKind::SmallInt: return fixed<int16_t>(read_integer<int16_t>);
      case TypeKind::Integer: return fixed<int32_t>(read_integer<int32_t>);
      case TypeKind::BigInt: return fixed<int64_t>(read_integer<int64_t>);
      case TypeKind::Real:
        return fixed<float>([&](std::string_view text, float& value) {
          double read = 0;
          // Not by way of DOUBLE, which would round twice.
          const std::optional<ScalarValue> parsed = read_value(type_, text);
          if (parsed) read = parsed->floating;
          value = static_cast<float>(read);
          return parsed.has_value();
        });
      case TypeKind::Double: return fixed<double>([&](std::string_view text, double& value) { return read_floating(type_, text, value); });
      case TypeKind::Decimal: return type_.is_wide() ? wide() : decimal();
      case TypeKind::Interval: return wide();
      case TypeKind::Date:
        return fixed<int32_t>([&](std::string_view text, int32_t& value) {
          int64_t days = 0;
          const bool is_read = read_date(text, order, days);
          value = static_cast<int32_t>(days);
          return is_read;
        });
      case TypeKind::Timestamp:
      case TypeKind::TimestampTz:
        return fixed<int64_t>([&](std::string_view text, int64_t& value) { return read_timestamp(type_, text, order, value); });
      default:
        return fixed<int64_t>([&](std::string_view text, int64_t& value) {
          const std::optional<ScalarValue> parsed = read_value(type_, text);
          if (parsed) value = static_cast<int64_t>(parsed->integer);
          return parsed.has_value();
        });
    }
  }

 private:
  void report(int64_t row, const FieldSpan& span) {
    bad_.report(row, name_, fmt::format("{} is not a valid {}", quoted_value(values_.value(span)), type_.to_string()));
  }

  template <typename Value, typename Read>
  Column fixed(const Read& read) {
    at::Tensor made = at::empty({rows_}, type_.scalar_type());
    Value* data = made.template mutable_data_ptr<Value>();
    for (int64_t row = 0; row < rows_; ++row) {
      const FieldSpan& span = values_.span(row);
      Value value{};
      if (values_.is_null(span)) {
        validity_.set_null(row);
      } else if (!read(values_.value(span), value)) {
        value = {};
        report(row, span);
      }
      data[row] = value;
    }
    return Column::fixed(type_, std::move(made), validity_.take());
  }

  Column decimal() {
    const int precision = type_.precision();
    const int scale = type_.scale();
    return fixed<int64_t>([&](std::string_view text, int64_t& value) {
      if (read_short_decimal(text, precision, scale, value)) return true;
      const std::optional<ScalarValue> parsed = read_value(type_, text);
      if (parsed) value = static_cast<int64_t>(parsed->integer);
      return parsed.has_value();
    });
  }

  Column wide() {
    at::Tensor made = at::empty({rows_, 2}, at::kLong);
    int64_t* data = made.mutable_data_ptr<int64_t>();
    for (int64_t row = 0; row < rows_; ++row) {
      const FieldSpan& span = values_.span(row);
      std::optional<ScalarValue> parsed;
      if (values_.is_null(span)) {
        validity_.set_null(row);
      } else {
        parsed = read_value(type_, values_.value(span));
        if (!parsed) report(row, span);
      }
      const Int128 value = parsed ? parsed->integer : Int128{0};
      data[2 * row] = static_cast<int64_t>(value);
      data[2 * row + 1] = static_cast<int64_t>(value >> 64);
    }
    return Column::fixed(type_, std::move(made), validity_.take());
  }

  Column text() {
    int64_t bytes = 0;
    for (int64_t row = 0; row < rows_; ++row) bytes += values_.span(row).size();
    TextBuilder builder(rows_, bytes);
    for (int64_t row = 0; row < rows_; ++row) {
      const FieldSpan& span = values_.span(row);
      if (values_.is_null(span)) {
        validity_.set_null(row);
      } else {
        check_utf8(row, span);
        values_.append(span, [&](std::string_view piece) { builder.append(piece); });
      }
      builder.end_row();
    }
    return with_validity(builder.finish(type_));
  }

  void check_utf8(int64_t row, const FieldSpan& span) {
    if (source_.is_ascii) return;
    const std::string_view raw = span.in(source_.text);
    if (arrow::util::ValidateUTF8(reinterpret_cast<const uint8_t*>(raw.data()), static_cast<int64_t>(raw.size()))) return;
    bad_.report(row, name_, "the text is not UTF-8");
  }

  Column blob() {
    TextBuilder builder(rows_, 0);
    for (int64_t row = 0; row < rows_; ++row) {
      const FieldSpan& span = values_.span(row);
      if (values_.is_null(span)) {
        validity_.set_null(row);
      } else if (const std::optional<ScalarValue> parsed = read_value(type_, values_.value(span))) {
        builder.append(parsed->text);
      } else {
        report(row, span);
      }
      builder.end_row();
    }
    return with_validity(builder.finish(type_));
  }

  Column with_validity(const Column& column) {
    return Column::text(type_, column.bytes(), column.begins(), column.ends(), validity_.take());
  }

  const FieldSource& source_;
  SlotValues values_;
  const std::string& name_;
  const LogicalType type_;
  BadRows& bad_;
  const int64_t rows_;
  ValidityBuilder validity_;
};

}  // namespace

void BadRows::report(int64_t row, std::string_view column, const std::string& problem) {
  if (marks_.empty()) marks_.resize(static_cast<size_t>(table_.rows()));
  if (marks_[static_cast<size_t>(row)]) return;
  marks_[static_cast<size_t>(row)] = true;
  report_bad_record(policy_, place_, text_, table_.record(row), column, problem);
}

Chunk BadRows::without_bad(Chunk chunk) const {
  if (marks_.empty()) return chunk;
  at::Tensor good = at::empty({chunk.rows()}, at::kBool);
  bool* data = good.mutable_data_ptr<bool>();
  for (size_t row = 0; row < marks_.size(); ++row) data[row] = !marks_[row];
  return select_rows(chunk, good);
}

Column convert_fields(const FieldSource& source, size_t slot, const std::string& name, LogicalType type, BadRows& bad) {
  return SlotConversion(source, slot, name, type, bad).convert();
}

}  // namespace pistachio
