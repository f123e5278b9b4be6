// Functions that return substrings. Results share the bytes of their argument. Function bodies (expr/function.h).
#pragma once

#include <string_view>

#include "expr/function.h"

namespace pistachio {

// Characters [start, start + length), 1-based and clamped to the text. Throws UserError for a negative length. `poll` is a NoPoll or a
// WorkPoll.
template <typename Poll>
std::string_view substring_of(std::string_view text, int64_t start, int64_t length, Poll& poll);

Column substring(const FunctionCall& call);   // text, start [, length]
Column left_part(const FunctionCall& call);   // text, count; negative: all but the last -count
Column right_part(const FunctionCall& call);  // text, count; negative: all but the first -count
Column trim_left(const FunctionCall& call);   // text [, characters]
Column trim_right(const FunctionCall& call);  // text [, characters]
Column trim_both(const FunctionCall& call);   // text [, characters]
Column split_part(const FunctionCall& call);  // text, delimiter, number; negative: from the end

}  // namespace pistachio
