// Text width in terminal columns: East Asian wide characters and emoji take two, combining marks none.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pistachio {

// Columns that the text takes. A byte of invalid UTF-8 takes one.
size_t display_width(std::string_view text);

// The text if it fits in `width` columns, else as much as fits before an ellipsis.
std::string cut_to_width(const std::string& text, size_t width);

}  // namespace pistachio
