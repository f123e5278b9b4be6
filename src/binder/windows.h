// The window calls of one SELECT.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "binder/query_binder.h"

namespace pistachio {

struct QueryBinder::Windows {
  // Of the WINDOW clause. Throws UserError if two have one name.
  void name_all(const std::vector<ast::WindowDefinition>& definitions);

  std::map<std::string, const ast::WindowDefinition*> named;
  // One for each set of partition columns and compatible orders: each becomes a plan node.
  std::vector<LogicalWindow> nodes;
  // Partition expressions that are not columns of the plan: computed below the nodes.
  std::vector<NamedExpression> computed;
  std::unordered_map<const Expression*, ColumnId, HashExpression, SameExpression> by_expression;  // what `computed` computes
  std::map<const ast::Call*, ColumnId> by_node;
};

}  // namespace pistachio
