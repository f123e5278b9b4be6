// What GROUP BY and the aggregate calls of one SELECT come to.
#pragma once

#include <map>
#include <unordered_map>
#include <vector>

#include "binder/query_binder.h"

namespace pistachio {

struct QueryBinder::Grouping {
  const NameScope* scope = nullptr;
  LogicalPtr* input = nullptr;  // what is grouped
  // SELECT aliases and positions that GROUP BY may name.
  const std::vector<const ast::SelectItem*>* items = nullptr;
  bool is_grouped = false;

  std::vector<NamedExpression> groups;
  std::unordered_map<const Expression*, ColumnId, HashExpression, SameExpression> by_group;  // what `groups` computes
  std::vector<AggregateCall> calls;
  std::unordered_multimap<size_t, size_t> calls_by_hash;  // places in `calls`
  std::map<const ast::Call*, ColumnId> by_node;
  // Once it is made. Calls that are found later, in subqueries above it, are added to it.
  LogicalAggregate* aggregate = nullptr;
  // Items of the select list that GROUP BY names by position or alias.
  std::map<const ast::Expression*, ColumnId> by_item;
};

}  // namespace pistachio
