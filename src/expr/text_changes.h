// Functions that produce new text. Function bodies (expr/function.h).
#pragma once

#include "expr/function.h"

namespace pistachio {

Column join_texts(const FunctionCall& call);        // text, text
Column concatenate(const FunctionCall& call);       // text...; NULLs are skipped
Column concatenate_with(const FunctionCall& call);  // separator, text...; NULLs are skipped
Column upper_case(const FunctionCall& call);
Column lower_case(const FunctionCall& call);
Column capitalize(const FunctionCall& call);
Column pad_left(const FunctionCall& call);              // text, length [, fill]
Column pad_right(const FunctionCall& call);             // text, length [, fill]
Column replace_all(const FunctionCall& call);           // text, from, to
Column translate_characters(const FunctionCall& call);  // text, from, to
Column reverse_text(const FunctionCall& call);
Column repeat_text(const FunctionCall& call);        // text, count
Column overlay_text(const FunctionCall& call);       // text, replacement, start [, length]
Column character_of_code(const FunctionCall& call);  // BIGINT
Column hexadecimal(const FunctionCall& call);        // INTEGER or BIGINT
Column md5_of_text(const FunctionCall& call);

}  // namespace pistachio
