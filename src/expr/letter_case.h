// Upper and lower case of text: ASCII eight bytes at a time, other letters by Unicode's simple mappings (utf8proc), which keep the number
// of characters.
#pragma once

#include <string>
#include <string_view>

#include "expr/text_builder.h"

namespace pistachio {

enum class LetterCase { Upper, Lower };

// One block of a text; a code point is not split between blocks.
void append_in_case(std::string_view block, LetterCase letter_case, TextBuilder& builder);
// The first letter of each word in upper case, the others in lower case; words are letters and digits in a row. `in_word` carries over from
// one block of a text to the next, and is false before the first.
void append_capitalized(std::string_view block, bool& in_word, TextBuilder& builder);
std::string to_lower(std::string_view text, WorkPoll& poll);

}  // namespace pistachio
