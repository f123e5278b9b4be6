// Functions that measure, search and match text. Function bodies (expr/function.h).
#pragma once

#include "expr/function.h"

namespace pistachio {

Column count_of_characters(const FunctionCall& call);
Column count_of_bytes(const FunctionCall& call);  // also of BLOB
Column count_of_bits(const FunctionCall& call);
Column first_code_point(const FunctionCall& call);
Column position_of_text(const FunctionCall& call);  // text, wanted: 1-based, in characters; 0 if absent
Column starts_with_text(const FunctionCall& call);
Column ends_with_text(const FunctionCall& call);
Column contains_text(const FunctionCall& call);

// text, pattern [, escape]
Column like(const FunctionCall& call);
Column not_like(const FunctionCall& call);
Column like_ignoring_case(const FunctionCall& call);
Column not_like_ignoring_case(const FunctionCall& call);

}  // namespace pistachio
