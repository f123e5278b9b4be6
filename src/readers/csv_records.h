// Parses whole CSV records of a block into the fields of the wanted columns. One task at a time; allocates nothing.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "readers/bad_records.h"
#include "readers/field_table.h"
#include "readers/text_dialect.h"

namespace pistachio {

constexpr size_t kNoSlot = SIZE_MAX;

class CsvRecords {
 public:
  // `slots`: of each field of a record, its slot in the table, or kNoSlot if it is not wanted. `place` names the text in errors.
  CsvRecords(const TextDialect& dialect, const std::vector<size_t>& slots, std::string_view text, const BlockPlace& place,
             BadRecordPolicy& policy);

  // Fills the table until it is full or the text ends; false if there was no record left.
  bool fill(FieldTable& table);

 private:
  // Parses the record at `at_`; false if it is bad and skipped.
  bool parse_record(FieldTable& table);
  // The end of the field at `at_`: a delimiter, a line end or the end of the text. Null after a bad field.
  const char* parse_quoted(const char* opening, FieldSpan& span);
  bool skip_blank_or_comment();
  const char* end_of_line(const char* from) const;
  bool report(const std::string& problem);

  const TextDialect& dialect_;
  const std::vector<size_t>& slots_;
  const std::string_view text_;
  const BlockPlace& place_;
  BadRecordPolicy& policy_;
  const char* at_;
  const char* const end_;
  const char* record_ = nullptr;
  bool stops_[256] = {};  // bytes that end an unquoted field
};

// Calls `take(text, is_quoted)` for each field of the record at the beginning of `text`, unescaped, and returns where the next one begins.
// For samples: slower than CsvRecords, and lenient about text behind a closing quote.
struct CsvRecordText {
  std::vector<std::string> fields;
  std::vector<bool> quoted;
  bool is_blank = false;
  bool is_broken = false;  // text behind a closing quote, or no closing quote
};
size_t read_csv_record(const TextDialect& dialect, std::string_view text, CsvRecordText& record);

// Resolves the escapes of a quoted field: appends to `result`.
template <typename Append>
void unescape_csv(const TextDialect& dialect, std::string_view text, const Append& append) {
  size_t begin = 0;
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    const bool escapes = text[i] == dialect.escape && (text[i + 1] == dialect.quote || text[i + 1] == dialect.escape);
    if (!escapes) continue;
    append(text.substr(begin, i - begin));
    begin = ++i;
  }
  append(text.substr(begin));
}

}  // namespace pistachio
