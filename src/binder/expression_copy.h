// Copies of expressions in the syntax tree, to bind one expression for each of several columns.
#pragma once

#include <functional>

#include "parser/ast.h"

namespace pistachio {

// A copy in which `replace` gives the expression for each COLUMNS(...). Throws UserError at a subquery.
ast::ExpressionPtr copy_expression(const ast::Expression& expression,
                                   const std::function<ast::ExpressionPtr(const ast::Star&, int64_t position)>& replace);

}  // namespace pistachio
