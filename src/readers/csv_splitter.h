// Finds where records end in CSV text that arrives in pieces, so that lanes can parse blocks of whole records without the text before them.
// Follows quotes as csv_records does: a quote opens at the beginning of a field only, and
// not in a comment. One task at a time.
#pragma once

#include <cstddef>
#include <string_view>

#include "readers/text_dialect.h"

namespace pistachio {

// The end of the last whole record in `text`, which begins with a record; 0 if there is none.
size_t end_of_csv_records(const TextDialect& dialect, std::string_view text);

// Whether the quote at `place` begins a quoted field: only blanks separate it from a delimiter, a line end or the beginning.
bool opens_quotes(const TextDialect& dialect, const char* begin, const char* place);

// The closing quote of the field whose text begins at `at`, behind the opening one; `end` if there is none.
const char* find_closing_quote(const TextDialect& dialect, const char* at, const char* end, bool& is_escaped);

}  // namespace pistachio
