// Finds the query that an aggregate belongs to: the innermost one whose columns it uses, which may be a query around the one it is written
// in. Then it is computed there, and the inner query refers to its result.
#pragma once

#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "binder/query_binder.h"

namespace pistachio {

class QueryBinder::AggregateOwners {
 public:
  // A SELECT whose expressions are being bound. Aggregates in its subqueries may belong to it.
  struct Level {
    const NameScope* scope = nullptr;
    Grouping* grouping = nullptr;  // null: aggregates are not allowed here, with `no_aggregate` in the error
    std::string_view no_aggregate;
  };

  explicit AggregateOwners(QueryBinder& binder) : binder_(binder) {}

  void open_level(const NameScope& scope, std::string_view no_aggregate) { levels_.push_back({&scope, nullptr, no_aggregate}); }
  Level& innermost() { return levels_.back(); }
  void close_level() { levels_.pop_back(); }

  // The query further out that the call belongs to; null if it belongs to the query that contains it.
  const NameScope* find_outer_owner(const ast::Call& call, const NameScope& scope);
  ExpressionPtr bind_outer_aggregate(const ast::Call& call, int64_t position, const NameScope& scope, const NameScope& owner);

  // SELECTs that must be bound as aggregations, because an aggregate in one of their subqueries belongs to them.
  void require_grouping(const ast::Select& select) { grouped_.insert(&select); }
  bool requires_grouping(const ast::Select& select) const { return grouped_.contains(&select); }

  // Called for each column that an expression names.
  void note_column(ColumnId column) {
    if (trial_ != nullptr) trial_->columns.insert(column);
  }

 private:
  // What subqueries in an aggregate's argument refer to in the queries around them.
  struct Trial {
    size_t levels = 0;  // of levels_ when it started; their groupings do not change
    ColumnSet columns;
    std::set<const NameScope*> aggregate_owners;

    bool uses(const NameScope& scope) const;
  };
  void try_bind(const ast::Query& query, const NameScope& scope, Trial& trial);

  QueryBinder& binder_;
  std::vector<Level> levels_;  // the innermost last
  std::set<const ast::Select*> grouped_;
  Trial* trial_ = nullptr;                           // null unless a trial is under way
  std::map<const ast::Call*, size_t> owner_levels_;  // by aggregates with subqueries: how many queries further out their owner is
};

}  // namespace pistachio
