// Finds texts in place of a table name: FROM 'file', JOIN 'file', FROM a, 'file', and subqueries in FROM without an alias. PostgreSQL has
// no such syntax, and the same words occur elsewhere (extract(year FROM 'text'), a IS DISTINCT FROM 'text', IN lists), so the context of
// each text is tracked. A pure function over the tokens of one statement.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "parser/sql_lexer.h"

namespace pistachio {

struct TablePlaces {
  std::vector<size_t> texts;                // tokens that are a text in place of a table
  std::vector<size_t> ends_without_alias;  // tokens that close a subquery or VALUES in FROM without an alias
};

// Indexes into `tokens`. `first_is_table`: the statement starts as if after FROM (DESCRIBE 'file').
TablePlaces find_table_places(std::string_view text, const std::vector<Token>& tokens, size_t start, bool first_is_table);

}  // namespace pistachio
