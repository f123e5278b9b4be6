// Upper and lower case of text: ASCII eight bytes at a time, other letters by Unicode's simple mappings (utf8proc), which keep the number
// of characters.
#pragma once

#include <string>
#include <string_view>

#include "expr/text_builder.h"

namespace pistachio {

enum class LetterCase { Upper, Lower };

void append_in_case(std::string_view text, LetterCase letter_case, TextBuilder& builder);
// The first letter of each word in upper case, the others in lower case; words are letters and digits in a row.
void append_capitalized(std::string_view text, TextBuilder& builder);
std::string to_lower(std::string_view text);

}  // namespace pistachio
