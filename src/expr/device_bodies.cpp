#include "expr/device_bodies.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "data/calendar.h"
#include "expr/like_pattern.h"
#include "expr/utf8_text.h"
#include "kernels/ops/tensor_functions.h"
#include "kernels/ops/text_match.h"
#include "kernels/ops/text_substring.h"

namespace pistachio {

namespace {

bool are_constant(std::span<const Argument> arguments) {
  return std::all_of(arguments.begin(), arguments.end(), [](const Argument& argument) { return argument.is_constant; });
}

bool is_plain_text(const Argument& argument) {
  return !argument.is_constant && argument.column.type().is_text() && !argument.column.is_dictionary();
}

std::optional<Column> match_on_device(const FunctionCall& call, bool negated) {
  if (!is_plain_text(call.arguments[0]) || !are_constant(call.arguments.subspan(1))) return std::nullopt;
  const std::string escape = call.arguments.size() == 3 ? call.arguments[2].constant().text : "\\";
  if (count_characters(escape) > 1) return std::nullopt;
  std::optional<LikePattern> pattern;
  try {
    pattern.emplace(call.arguments[1].constant().text, escape);
  } catch (const UserError&) {
    return std::nullopt;  // an error only if a row reaches it
  }
  std::vector<int64_t> pieces;
  std::string literals;
  const std::vector<LikePattern::Segment>& segments = pattern->segments();
  for (size_t segment = 0; segment < segments.size(); ++segment) {
    for (const LikePattern::Piece& piece : segments[segment]) {
      pieces.insert(pieces.end(), {static_cast<int64_t>(segment), piece.skipped, static_cast<int64_t>(piece.literal.size())});
      literals += piece.literal;
    }
  }
  const Column& text = call.arguments[0].column;
  at::Tensor matches = kernels::text_match(text.bytes(), text.begins(), text.ends(), at::tensor(pieces, at::kLong).view({-1, 3}), literals,
                                           static_cast<int64_t>(segments.size()));
  return Column::fixed(call.result, negated ? matches.logical_not_() : matches);
}

at::Tensor floor_divided(const at::Tensor& values, int64_t divisor) {
  return at::div(values, divisor, "floor");
}

// Year, month and day of days since 1970-01-01; year 0 is 1 BC. Years start in March, so that the leap day comes last.
struct CivilDates {
  at::Tensor year;
  at::Tensor month;
  at::Tensor day;
};

CivilDates civil_dates(const at::Tensor& days) {
  const at::Tensor shifted = days.to(at::kLong) + 719'468;
  const at::Tensor era = floor_divided(shifted, 146'097);  // of 400 years
  const at::Tensor day_of_era = shifted - era * 146'097;
  const at::Tensor year_of_era = floor_divided(
      day_of_era - floor_divided(day_of_era, 1'460) + floor_divided(day_of_era, 36'524) - floor_divided(day_of_era, 146'096), 365);
  const at::Tensor day_of_year = day_of_era - (year_of_era * 365 + floor_divided(year_of_era, 4) - floor_divided(year_of_era, 100));
  const at::Tensor march_month = floor_divided(day_of_year * 5 + 2, 153);
  const at::Tensor next_year = march_month.ge(10);
  return {year_of_era + era * 400 + next_year, march_month + 3 - next_year * 12, day_of_year - floor_divided(march_month * 153 + 2, 5) + 1};
}

}  // namespace

std::optional<Column> like_on_device(const FunctionCall& call) {
  return match_on_device(call, false);
}

std::optional<Column> not_like_on_device(const FunctionCall& call) {
  return match_on_device(call, true);
}

std::optional<Column> substring_on_device(const FunctionCall& call) {
  if (!is_plain_text(call.arguments[0]) || !are_constant(call.arguments.subspan(1))) return std::nullopt;
  const ScalarValue start = call.arguments[1].constant();
  if (start.is_null) return std::nullopt;
  const int64_t first = static_cast<int64_t>(start.integer);
  int64_t skipped = std::max<int64_t>(first, 1) - 1;
  int64_t count = INT64_MAX;
  if (call.arguments.size() == 3) {
    const ScalarValue length = call.arguments[2].constant();
    if (length.is_null || length.integer < 0) return std::nullopt;
    int64_t behind = 0;
    if (__builtin_add_overflow(first, static_cast<int64_t>(length.integer), &behind)) behind = INT64_MAX;
    count = behind - 1 - skipped;
    if (behind <= 1) skipped = count = 0;
  }
  const Column& text = call.arguments[0].column;
  auto [begins, ends] = kernels::text_substring(text.bytes(), text.begins(), text.ends(), skipped, count);
  return Column::text(call.result, text.bytes(), begins, ends);
}

std::optional<Column> extract_on_device(DateField field, const FunctionCall& call) {
  const bool is_known = field == DateField::Year || field == DateField::Quarter || field == DateField::Month || field == DateField::Day;
  if (call.arguments[0].is_constant || !is_known) return std::nullopt;
  const Column& moments = call.arguments[0].column;
  at::Tensor days;
  switch (moments.type().kind()) {
    case TypeKind::Date: days = moments.values(); break;
    case TypeKind::Timestamp:
    case TypeKind::TimestampTz: days = floor_divided(moments.values(), kDayMicros); break;
    case TypeKind::TimestampNs:
    case TypeKind::TimestampTzNs: days = floor_divided(moments.values(), kDayNanos); break;
    default: return std::nullopt;
  }
  const CivilDates dates = civil_dates(days);
  switch (field) {
    case DateField::Year: return Column::fixed(call.result, dates.year - dates.year.le(0).to(at::kLong));  // 1 BC is -1
    case DateField::Quarter: return Column::fixed(call.result, floor_divided(dates.month + 2, 3));
    case DateField::Month: return Column::fixed(call.result, dates.month);
    default: return Column::fixed(call.result, dates.day);
  }
}

}  // namespace pistachio
