// FROM before SELECT: `FROM t SELECT a WHERE b` becomes `SELECT a FROM t WHERE b`, and `FROM t` becomes `SELECT * FROM t`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parser/position_map.h"
#include "parser/sql_lexer.h"

namespace pistachio {

struct ReorderedStatement {
  std::string sql;
  PositionMap positions;  // to the original text
};

// `tokens`: of one statement, without the semicolon. Nullopt if no query of the statement begins with FROM.
std::optional<ReorderedStatement> reorder_leading_from(std::string_view text, const std::vector<Token>& tokens);

}  // namespace pistachio
