// Writes a syntax tree as SQL-like text in canonical form: every operator in parentheses, names quoted if necessary, keywords in upper
// case. For tests, logs and column names. Parsing the text of a query yields the same tree, except that names which are keywords are not
// quoted and a window is written as OVER (...). Pure functions; recursion is bounded by ParseLimits, with loops along chains.
#pragma once

#include <string>

#include "parser/ast.h"

namespace pistachio {

std::string to_text(const ast::Expression& expression);
std::string to_text(const ast::TableReference& table);
std::string to_text(const ast::Query& query);
std::string to_text(const ast::Statement& statement);
std::string to_text(const ast::TypeName& type);

}  // namespace pistachio
