// Finds the texts that stand where a table name is expected: FROM 'file', JOIN 'file', FROM a, 'file'. PostgreSQL has no such syntax and
// the same words occur elsewhere (extract(year FROM 'text'), a IS DISTINCT FROM 'text', IN lists), so the context of each text is followed.
// A pure function over the tokens of one statement; any thread.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "parser/sql_lexer.h"

namespace pistachio {

// Positions in `tokens`. `first_is_table`: the statement begins as if after FROM (DESCRIBE 'file').
std::vector<size_t> find_table_texts(std::string_view text, const std::vector<Token>& tokens, size_t start, bool first_is_table);

}  // namespace pistachio
