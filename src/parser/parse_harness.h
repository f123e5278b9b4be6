// Shared by the parser's tests: parse and write back, or parse and expect an error.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/error.h"
#include "parser/ast_text.h"
#include "parser/parse.h"

namespace pistachio {

// The canonical text of the statements, joined by "; ".
inline std::string canonical(std::string_view sql) {
  std::string result;
  try {
    for (const ast::Statement& statement : parse_statements(sql)) result += (result.empty() ? "" : "; ") + to_text(statement);
  } catch (const UserError& error) {
    return std::string("ERROR ") + error.what();
  }
  return result;
}

// The canonical text of one expression.
inline std::string expression_text(std::string_view sql) {
  const std::string text = canonical("select " + std::string(sql));
  return text.starts_with("SELECT ") ? text.substr(7) : text;
}

struct ParseFailure {
  std::string message;
  int64_t position = -1;
};

inline ParseFailure failure_of(std::string_view sql, const ParseLimits& limits = {}) {
  try {
    parse_statements(sql, limits);
  } catch (const UserError& error) {
    return {error.what(), error.position().value_or(-1)};
  }
  return {"no error", -1};
}

// Expects an error at the position of the mark ^, which is removed before parsing.
inline void expect_failure_at_mark(std::string_view marked, std::string_view message) {
  std::string sql(marked);
  const size_t mark = sql.find('^');
  ASSERT_NE(mark, std::string::npos) << marked;
  sql.erase(mark, 1);
  const ParseFailure failure = failure_of(sql);
  EXPECT_EQ(failure.message, message) << sql;
  EXPECT_EQ(failure.position, static_cast<int64_t>(mark)) << sql;
}

}  // namespace pistachio
