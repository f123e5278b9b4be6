#include "readers/bad_records.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace pistachio {

int64_t line_of(const BlockPlace& place, std::string_view text, size_t offset) {
  return place.first_line +
         std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(std::min(offset, text.size())), place.line_end);
}

void report_bad_record(BadRecordPolicy& policy, const BlockPlace& place, std::string_view text, size_t offset, std::string_view column,
                       const std::string& problem) {
  if (policy.skips) {
    ++policy.skipped;
    return;
  }
  const std::string where = fmt::format("{}, line {}", place.file, line_of(place, text, offset));
  throw DataError(problem, {.file = where, .column = std::string(column)});
}

std::string quoted_value(std::string_view text) {
  constexpr size_t longest = 100;
  std::string shown = "'";
  for (char letter : text.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(letter);
    shown += byte < 0x20 || byte == 0x7F ? fmt::format("\\x{:02x}", byte) : std::string(1, letter);
  }
  // Not in the middle of a character.
  if (text.size() > longest) {
    while (!shown.empty() && (static_cast<unsigned char>(shown.back()) & 0x80U) != 0) shown.pop_back();
  }
  return shown + (text.size() > longest ? "...'" : "'");
}

}  // namespace pistachio
