// Walks over the syntax tree, to answer questions before binding.
#pragma once

#include <functional>
#include <string>

#include "parser/ast.h"

namespace pistachio {

// Visits the direct children of an expression. For a subquery only the operand: its query is another level.
void for_each_child(const ast::Expression& expression, const std::function<void(const ast::Expression&)>& visit);

// Whether a query reads an outer table of this name, at any depth. CTEs of the same name hide it.
bool reads_table(const ast::Query& query, const std::string& name);

}  // namespace pistachio
