// Functions that cut pieces out of texts. Results share the bytes of their argument. Bodies of functions (expr/function.h).
#pragma once

#include <string_view>

#include "expr/function.h"

namespace pistachio {

// Characters [start, start + length) counted from 1; what lies outside the text is cut. Throws UserError for a negative length.
std::string_view substring_of(std::string_view text, int64_t start, int64_t length);

Column substring(const FunctionCall& call);   // text, start [, length]
Column left_part(const FunctionCall& call);   // text, count; negative: all but so many
Column right_part(const FunctionCall& call);  // text, count; negative: all but so many
Column trim_left(const FunctionCall& call);   // text [, characters]
Column trim_right(const FunctionCall& call);  // text [, characters]
Column trim_both(const FunctionCall& call);   // text [, characters]
Column split_part(const FunctionCall& call);  // text, delimiter, number; negative: from the end

}  // namespace pistachio
