// Walks over the syntax tree, for questions that are answered before anything is bound. Looks into trees that others own; any thread.
#pragma once

#include <functional>
#include <string>

#include "parser/ast.h"

namespace pistachio {

// The expressions an expression is made of. Of a subquery only the operand: the query is another level.
void for_each_child(const ast::Expression& expression, const std::function<void(const ast::Expression&)>& visit);

// Whether a query reads the table of this name, which is known around it, at any depth. Common tables of the same name hide it.
bool reads_table(const ast::Query& query, const std::string& name);

}  // namespace pistachio
