// Text width in terminal columns: East Asian wide characters and emoji take two, combining marks none.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "expr/work_poll.h"

namespace pistachio {

// Columns that the text takes. A byte of invalid UTF-8 takes one.
size_t display_width(std::string_view text);
size_t display_width(std::string_view text, WorkPoll& poll);

// The text if it fits in `width` columns, else as much as fits before an ellipsis.
std::string cut_to_width(std::string_view text, size_t width);

}  // namespace pistachio
