// Finds QUALIFY and IGNORE NULLS, which PostgreSQL's grammar does not have: their words are names elsewhere, so that the context decides. Pure
// functions over the tokens of one statement.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "parser/sql_lexer.h"

namespace pistachio {

// Whether a table, a condition or another operand may end with this token.
bool can_end_operand(std::string_view text, const Token& token);

// Whether the token is the word QUALIFY that begins a clause, not an alias or a column of that name. It is an alias after AS or in quotes.
bool is_qualify(std::string_view text, const std::vector<Token>& tokens, size_t place);

// All members are indexes into the tokens.
struct QualifyClause {
  size_t word = 0;
  size_t last = 0;              // of its condition
  bool follows_window = false;  // there is a WINDOW clause before it
  std::optional<size_t> window_behind;  // the word WINDOW that ends it
};
std::vector<QualifyClause> find_qualify_clauses(std::string_view text, const std::vector<Token>& tokens);

// IGNORE NULLS or RESPECT NULLS, at the end of the arguments of a call or between its bracket and OVER.
struct NullTreatment {
  size_t word = 0;  // IGNORE or RESPECT
  bool ignores = true;
  bool is_behind_bracket = false;
  bool has_arguments = true;
};
std::vector<NullTreatment> find_null_treatments(std::string_view text, const std::vector<Token>& tokens);

}  // namespace pistachio
