#include "readers/json_splitter.h"

#include <fmt/format.h>

#include <string>

#include "readers/json_text.h"

namespace pistachio {

namespace {

// Errors of one text.
struct SplitText {
  std::string_view text;
  const BlockPlace& place;

  [[noreturn]] void refuse(const char* at, const std::string& problem) const {
    BadRecordPolicy never_skips;
    report_bad_record(never_skips, place, text, static_cast<size_t>(at - text.data()), "", problem);
    __builtin_unreachable();
  }
  [[noreturn]] void refuse_damage(const char* at) const {
    constexpr size_t shown = 20;
    const std::string_view rest = text.substr(static_cast<size_t>(at - text.data()), shown);
    refuse(at, fmt::format("it is not JSON at {}", quoted_value(rest)));
  }
};

}  // namespace

size_t JsonSplitter::end_of_records(std::string_view text, const BlockPlace& place, bool ends_file) {
  if (layout_ == JsonLayout::Lines) {
    const size_t newline = text.rfind('\n');
    return ends_file ? text.size() : newline == std::string_view::npos ? 0 : newline + 1;
  }
  const SplitText split{text, place};
  const bool is_array = layout_ == JsonLayout::Array;
  const char* const end = text.data() + text.size();
  const char* at = text.data();
  while (true) {
    at = skip_json_blanks(at, end);
    if (at == end) break;
    if (is_array && expected_ == Expected::Nothing) split.refuse(at, "text follows the array");
    if (is_array && *at == ']' && expected_ != Expected::NextElement) {
      expected_ = Expected::Nothing;
      ++at;
      continue;
    }
    if (is_array && expected_ == Expected::Comma) {
      if (*at != ',') split.refuse(at, "it is not JSON: a comma between elements of the array is missing");
      expected_ = Expected::NextElement;
      ++at;
      continue;
    }
    const JsonValue value = read_json_value(at, end);
    if (value.damage != nullptr) split.refuse_damage(value.damage);
    // A number at the end of the text may go on.
    const bool is_cut = value.end == nullptr || (value.end == end && value.kind != JsonKind::String && value.kind != JsonKind::Nested);
    if (is_cut && !ends_file) return static_cast<size_t>(at - text.data());
    if (value.end == nullptr) split.refuse(at, "it is not JSON: the file ends within a record");
    at = value.end;
    expected_ = Expected::Comma;
  }
  if (ends_file && is_array && expected_ != Expected::Nothing) split.refuse(end, "it is not JSON: the file ends within its array");
  return text.size();
}

}  // namespace pistachio
