#include "readers/csv_splitter.h"

#include <cstring>

namespace pistachio {

namespace {

const char* find_byte(const char* at, const char* end, char byte) {
  const void* found = at == end ? nullptr : std::memchr(at, byte, static_cast<size_t>(end - at));
  return found == nullptr ? end : static_cast<const char*>(found);
}

// Behind the record that begins at `begin`; null if it is not whole.
const char* end_of_record(const TextDialect& dialect, const char* begin, const char* end) {
  const char* line = find_byte(begin, end, dialect.line_end);
  const char* quote = dialect.quote == 0 ? line : find_byte(begin, line, dialect.quote);
  while (quote != line) {
    const char* from = quote + 1;
    if (opens_quotes(dialect, begin, quote)) {
      bool is_escaped = false;
      const char* closing = find_closing_quote(dialect, from, end, is_escaped);
      if (closing == end) return nullptr;
      from = closing + 1;
      line = find_byte(from, end, dialect.line_end);
    }
    quote = find_byte(from, line, dialect.quote);
  }
  return line == end ? nullptr : line + 1;
}

// Quotes in comments open nothing, and only where a record begins is a comment known: one record after the other.
size_t end_of_commented_records(const TextDialect& dialect, std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    const char* next = nullptr;
    if (*at == dialect.comment) {
      const char* line = find_byte(at, end, dialect.line_end);
      next = line == end ? nullptr : line + 1;
    } else {
      next = end_of_record(dialect, at, end);
    }
    if (next == nullptr) break;
    at = next;
  }
  return static_cast<size_t>(at - text.data());
}

}  // namespace

bool opens_quotes(const TextDialect& dialect, const char* begin, const char* place) {
  if (dialect.delimiter != ' ') {
    while (place != begin && place[-1] == ' ') --place;
  }
  return place == begin || place[-1] == dialect.delimiter || place[-1] == dialect.line_end;
}

const char* find_closing_quote(const TextDialect& dialect, const char* at, const char* end, bool& is_escaped) {
  const char* const begin = at;
  while (true) {
    const char* quote = find_byte(at, end, dialect.quote);
    if (quote == end) return end;
    if (dialect.escape == dialect.quote) {
      if (quote + 1 == end || quote[1] != dialect.quote) return quote;
      is_escaped = true;
      at = quote + 2;
      continue;
    }
    // An escape may itself be escaped: those before the quote pair up.
    const char* first = quote;
    while (dialect.escape != 0 && first != begin && first[-1] == dialect.escape) --first;
    is_escaped = is_escaped || first != quote;
    if ((quote - first) % 2 == 0) {
      if (!is_escaped && dialect.escape != 0) is_escaped = find_byte(begin, quote, dialect.escape) != quote;
      return quote;
    }
    at = quote + 1;
  }
}

size_t end_of_csv_records(const TextDialect& dialect, std::string_view text) {
  if (dialect.comment != 0) return end_of_commented_records(dialect, text);
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const char* after_last = begin;  // the end of the last record found
  const char* outside = begin;     // text from here up to the next opening quote is not inside of quotes
  auto search = [&](const char* up_to) {
    const void* found = up_to == outside ? nullptr : ::memrchr(outside, dialect.line_end, static_cast<size_t>(up_to - outside));
    if (found != nullptr) after_last = static_cast<const char*>(found) + 1;
  };
  const char* quote = dialect.quote == 0 ? end : find_byte(begin, end, dialect.quote);
  while (quote != end) {
    if (!opens_quotes(dialect, begin, quote)) {
      quote = find_byte(quote + 1, end, dialect.quote);
      continue;
    }
    search(quote);
    bool is_escaped = false;
    const char* closing = find_closing_quote(dialect, quote + 1, end, is_escaped);
    if (closing == end) return static_cast<size_t>(after_last - begin);
    outside = closing + 1;
    quote = find_byte(outside, end, dialect.quote);
  }
  search(end);
  return static_cast<size_t>(after_last - begin);
}

}  // namespace pistachio
