// The entry point of the parser: SQL text in, syntax trees out. The text is split into statements; each is checked for size, rewritten
// where our SQL differs from PostgreSQL's, parsed by libpg_query and converted (tree_converter.h).
// Thread-safe; the work runs on a short-lived thread with a large stack while the caller waits.
// Memory: a few hundred bytes per token while it runs (not accounted), the returned trees afterwards.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/cancel_token.h"
#include "parser/ast.h"

namespace pistachio {

// A text beyond these limits is rejected with UserError. They also bound the depth of recursion over a tree: 4 * `nesting` for walks that
// follow the left operand of Operator, SetOperation and JoinTable in a loop, `chain` for walks that recurse everywhere.
struct ParseLimits {
  int64_t text_bytes = 16 << 20;
  int64_t tokens = 1'000'000;  // of one statement
  int64_t nesting = 1000;      // of parentheses, brackets and CASE
  int64_t chain = 12'000;      // a + a + ..., joins, unions; AND and OR are lists and have no such limit
};

// Parses statements separated by semicolons. Throws UserError with the byte position, and Cancelled. PostgreSQL's own parser does not check
// the token; it takes about a second for the longest permitted statement.
std::vector<ast::Statement> parse_statements(std::string_view text, const ParseLimits& limits = {}, const CancelToken& token = {});

}  // namespace pistachio
