// Writes a syntax tree as SQL-like text in one canonical form: every operator in parentheses, names quoted where they must be, keywords in
// upper case. For tests, logs and the names of columns. Parsing the text of a query gives the same tree again, except that names which are
// keywords are not quoted and a window is written as OVER (...). Pure functions; recursion as ParseLimits says, with loops along chains.
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
