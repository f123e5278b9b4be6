// The groups and aggregate calls of one SELECT.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "binder/query_binder.h"

namespace pistachio {

// grouping(a, b), which shows the grouping set of a row.
inline bool is_grouping_call(const ast::Call& call) {
  return call.name == "grouping" || call.name == "grouping_id";
}

struct Grouping {
  const NameScope* scope = nullptr;
  LogicalPtr* input = nullptr;  // the plan to group
  // The select list, whose aliases and positions GROUP BY may refer to.
  const std::vector<ListedColumn>* list = nullptr;
  bool is_grouped = false;

  std::vector<NamedExpression> groups;
  // GROUPING SETS, as columns of `groups`; empty: a plain GROUP BY.
  std::vector<std::vector<ColumnId>> sets;
  // Only with sets.
  ColumnId set_number;
  // What `groups` computes.
  std::unordered_map<const Expression*, ColumnId, HashExpression, SameExpression> by_group;
  std::vector<AggregateCall> calls;
  std::unordered_multimap<size_t, size_t> calls_by_hash;  // places in `calls`
  std::map<const ast::Call*, ColumnId> by_node;
  // Once created. Calls found later, in subqueries above it, are added to it.
  LogicalAggregate* aggregate = nullptr;
  // Items of the select list that GROUP BY refers to by position or alias.
  std::map<const ast::Expression*, ColumnId> by_item;

  // The item of the select list behind a name that is no column of the tables; null if there is none.
  const ast::Expression* aliased_expression(const ast::ColumnName& name, std::string_view clause, int64_t position) const;
  // Replaces group expressions by columns of the aggregate; other columns of the tables are then an error.
  ExpressionPtr above(ExpressionPtr expression, const ColumnRegistry& columns) const;

 private:
  const ast::SelectItem* find_alias(const std::string& alias, std::string_view clause, int64_t position) const;
};

}  // namespace pistachio
