// SQL text in, syntax trees out: the door of this folder. The text is cut into statements, each is bounded in size, rewritten where our
// SQL is not PostgreSQL's, parsed by libpg_query and converted (tree_converter.h).
// Any thread may call it, several at once; the work runs on a short-lived thread with a large stack while the caller waits.
// Memory: a few hundred bytes per token while it runs (not accounted), the returned trees afterwards.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/cancel_token.h"
#include "parser/ast.h"

namespace pistachio {

// Beyond these a text is refused with UserError. `nesting` and `chain` also bound the trees: walking down, and going along the left operand
// of Operator, SetOperation and JoinTable with a loop, recursion goes at most 4 * `nesting` deep; with recursion everywhere, `chain`.
struct ParseLimits {
  int64_t text_bytes = 16 << 20;
  int64_t tokens = 1'000'000;  // of one statement
  int64_t nesting = 1000;      // of parentheses, brackets and CASE
  int64_t chain = 12'000;      // a + a + ..., joins, unions; AND and OR are lists and have no such limit
};

// Parses a text of one or more statements separated by semicolons. Throws UserError with the byte position, and Cancelled: only
// PostgreSQL's own parser does not ask the token, which takes about a second for as many words as the limits allow.
std::vector<ast::Statement> parse_statements(std::string_view text, const ParseLimits& limits = {}, const CancelToken& token = {});

}  // namespace pistachio
