// SELECT: its clauses are bound in the order in which they are evaluated.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "binder/aggregate_owners.h"
#include "binder/grouping.h"
#include "binder/name_match.h"
#include "binder/windows.h"

namespace pistachio {

namespace {

// PostgreSQL's default name of a column without an alias.
std::string default_name(const ast::Expression& expression) {
  if (const auto* column = std::get_if<ast::ColumnName>(&expression.node)) return column->parts.back();
  if (const auto* call = std::get_if<ast::Call>(&expression.node)) return call->name;
  if (const auto* cast = std::get_if<ast::Cast>(&expression.node)) {
    std::string inner = default_name(*cast->operand);
    return inner == "?column?" ? cast->type.name : inner;
  }
  if (std::holds_alternative<ast::Case>(expression.node)) return "case";
  if (const auto* subquery = std::get_if<ast::Subquery>(&expression.node)) {
    if (subquery->kind == ast::Subquery::Kind::Exists) return "exists";
    if (subquery->kind == ast::Subquery::Kind::Scalar) {
      if (const auto* select = std::get_if<ast::Select>(&subquery->query->body)) {
        if (select->items.size() == 1 && !select->items[0].alias.empty()) return select->items[0].alias;
        if (select->items.size() == 1) return default_name(*select->items[0].expression);
      }
    }
  }
  return "?column?";
}

// Aliases that refer to aliases double expressions: a + a AS b, b + b AS c, ...
constexpr size_t kLargestAliased = 10'000;

// Whether the expression has at most `left` nodes; subtracts them.
bool is_smaller(const Expression& expression, size_t& left) {
  if (left-- == 0) return false;
  return std::all_of(expression.children().begin(), expression.children().end(),
                     [&](const ExpressionPtr& child) { return is_smaller(*child, left); });
}

// Output columns by case-folded name, in order. Built by the first lookup, since few queries need it.
class OutputNames {
 public:
  explicit OutputNames(const std::vector<OutputColumn>& output) : output_(output) {}
  const std::vector<const OutputColumn*>& find(const std::string& name) {
    if (by_name_.empty()) {
      for (const OutputColumn& column : output_) by_name_[fold_name(column.name)].push_back(&column);
    }
    return by_name_[fold_name(name)];
  }

 private:
  const std::vector<OutputColumn>& output_;
  std::unordered_map<std::string, std::vector<const OutputColumn*>> by_name_;
};

}  // namespace

// One SELECT while it is bound. Lives for one call of bind_select; expressions and scopes point into it.
class QueryBinder::SelectBinding {
 public:
  SelectBinding(QueryBinder& binder, const ast::Query& query, const ast::Select& select, const NameScope* outer)
      : binder_(binder), query_(query), select_(select), outer_(outer), scope_(outer) {}
  SelectBinding(const SelectBinding&) = delete;
  SelectBinding& operator=(const SelectBinding&) = delete;

  // In this order. Opens a level of the binder, which the caller closes.
  void bind_from_and_where();
  void bind_grouping();
  void bind_having();
  void bind_windows();
  void bind_qualify();
  void bind_list();
  void bind_keys();
  // An aggregate in a subquery turned out to belong to this SELECT, which was not bound as an aggregation.
  bool must_be_grouped() const { return !grouping_.is_grouped && !grouping_.calls.empty(); }
  BoundQuery finish();

 private:
  bool is_distinct() const { return select_.distinct && select_.distinct_on.empty(); }
  void add_aggregate();
  ExpressionPtr above_grouping(ExpressionPtr value) const { return grouping_.above(std::move(value), binder_.columns_); }
  ExpressionPtr bind_item(const ast::Expression& expression);
  void add_column(const ListedColumn& listed);
  void add_item(const ast::SelectItem& item);
  // Looks up aliases of the select list in an expression of a clause.
  std::function<const ast::Expression*(const ast::ColumnName&, int64_t)> aliases_for(std::string_view clause);
  ExpressionPtr find_earlier(const ast::ColumnName& name, int64_t position) const;
  bool is_outer_column(const ast::ColumnName& name, int64_t position) const;
  void bind_order(const ast::OrderItem& item);
  // Operands of ORDER BY and DISTINCT ON: an output column by position or name, else an expression, which may become a hidden column.
  ColumnId bind_key(const ast::Expression& item, std::string_view clause);
  std::optional<ColumnId> find_output(const ast::ColumnName& column_name, int64_t position, std::string_view clause);

  QueryBinder& binder_;
  const ast::Query& query_;
  const ast::Select& select_;
  const NameScope* const outer_;
  NameScope scope_;
  LogicalPtr plan_;
  std::vector<ListedColumn> list_;  // the select list
  size_t listed_ = 0;               // how many of its columns are bound
  Grouping grouping_{.scope = &scope_, .input = &plan_, .list = &list_};
  Windows windows_;
  ExpressionPlace place_;  // of expressions above the grouping
  BoundQuery bound_;
  std::vector<NamedExpression> columns_;  // the select list, then hidden columns
  size_t visible_ = 0;                    // how many of them are the select list
  // Ids that name_expression must not reuse. A column of an outer query that is passed on gets a new id, else the join of the two would
  // contain it twice.
  ColumnSet taken_;
  PlanColumns given_{plan_};
  OutputNames names_{bound_.output};
  std::unordered_map<const Expression*, ColumnId, HashExpression, SameExpression> by_expression_;
  LogicalLimit first_of_each_{.limit = 1};  // DISTINCT ON
  LogicalSort sort_;
};

BoundQuery QueryBinder::bind_select(const ast::Query& query, const ast::Select& select, const NameScope* outer) {
  size_t shared_around = shared_.size();
  SelectBinding binding(*this, query, select, outer);
  binding.bind_from_and_where();
  binding.bind_grouping();
  binding.bind_having();
  binding.bind_windows();
  binding.bind_qualify();
  binding.bind_list();
  binding.bind_keys();
  owners_->close_level();
  // Only now it is known that an aggregate in a subquery belongs to this query: bind it again, as an aggregation.
  if (binding.must_be_grouped()) {
    owners_->require_grouping(select);
    shared_.resize(shared_around);
    return bind_select(query, select, outer);
  }
  return binding.finish();
}

void QueryBinder::SelectBinding::bind_from_and_where() {
  BoundFrom from = binder_.bind_from(select_.from, outer_);
  scope_.set_columns(from.columns);
  binder_.owners_->open_level(scope_, "in WHERE");
  plan_ = std::move(from.plan);
  list_ = binder_.expand_list(select_, scope_, bound_.left_out);
  if (!select_.where) return;
  ExpressionPlace place{.scope = &scope_, .input = &plan_, .no_aggregate = "in WHERE: use HAVING", .no_window = "in WHERE: use QUALIFY"};
  place.alias = aliases_for("WHERE");
  for (const ast::Expression* condition : binder_.expand_columns(*select_.where, scope_)) binder_.bind_filter(*condition, place, "WHERE");
}

void QueryBinder::SelectBinding::bind_grouping() {
  binder_.owners_->innermost().no_aggregate = "in GROUP BY";
  binder_.bind_groups(select_, grouping_);
  binder_.owners_->innermost().no_aggregate = "inside another aggregate";
  for (const ListedColumn& listed : list_) {
    if (listed.column == nullptr) binder_.collect_aggregates(*listed.item->expression, grouping_);
  }
  if (select_.having) binder_.collect_aggregates(*select_.having, grouping_);
  for (const ast::OrderItem& item : query_.order_by) binder_.collect_aggregates(*item.expression, grouping_);
  for (const ast::ExpressionPtr& item : select_.distinct_on) binder_.collect_aggregates(*item, grouping_);
  if (select_.qualify) binder_.collect_aggregates(*select_.qualify, grouping_);
  for (const ast::WindowDefinition& window : select_.windows) {
    for (const ast::ExpressionPtr& item : window.partition_by) binder_.collect_aggregates(*item, grouping_);
    for (const ast::OrderItem& item : window.order_by) binder_.collect_aggregates(*item.expression, grouping_);
  }
  grouping_.is_grouped = !select_.group_by.empty() || select_.group_by_all || select_.group_by_nothing || select_.grouping_sets ||
                         !grouping_.calls.empty() || select_.having != nullptr || binder_.owners_->requires_grouping(select_);
  if (grouping_.is_grouped) add_aggregate();
  binder_.owners_->innermost().grouping = &grouping_;

  place_ = {.scope = &scope_, .input = &plan_, .aggregates = &grouping_.by_node, .no_aggregate = "here"};
  if (grouping_.is_grouped) place_.grouping = &grouping_;
  if (grouping_.is_grouped) place_.regroup = [this](ExpressionPtr value) { return above_grouping(std::move(value)); };
}

void QueryBinder::SelectBinding::add_aggregate() {
  // Group expressions are computed below the aggregate, so that it groups by columns.
  auto is_computed = [](const NamedExpression& group) {
    return group.expression->kind() != ExpressionKind::Column || group.expression->column_id() != group.id;
  };
  if (std::any_of(grouping_.groups.begin(), grouping_.groups.end(), is_computed)) {
    std::vector<NamedExpression> columns;
    for (ColumnId id : output_columns(*plan_)) columns.push_back({id, binder_.columns_.reference(id)});
    for (const NamedExpression& group : grouping_.groups) {
      if (is_computed(group)) columns.push_back(group);
    }
    plan_ = binder_.project(std::move(plan_), std::move(columns));
  }
  LogicalAggregate aggregate;
  for (const NamedExpression& group : grouping_.groups) aggregate.groups.push_back(group.id);
  aggregate.calls = grouping_.calls;
  aggregate.sets = grouping_.sets;
  aggregate.set_number = grouping_.set_number;
  plan_ = make_node(std::move(aggregate), std::move(plan_));
  grouping_.aggregate = plan_->as<LogicalAggregate>();
  grouping_.input = &plan_->children[0];
}

void QueryBinder::SelectBinding::bind_having() {
  place_.no_window = "in HAVING: use QUALIFY";
  if (!select_.having) return;
  ExpressionPlace place = place_;
  place.alias = aliases_for("HAVING");
  binder_.bind_filter(*select_.having, place, "HAVING");
}

// Above the grouping, below DISTINCT, ORDER BY and LIMIT.
void QueryBinder::SelectBinding::bind_windows() {
  place_.no_window = "inside another window function";
  windows_.name_all(select_.windows);
  for (const ListedColumn& listed : list_) {
    if (listed.column == nullptr) binder_.collect_windows(*listed.item->expression, place_, windows_);
  }
  if (select_.qualify) binder_.collect_windows(*select_.qualify, place_, windows_);
  for (const ast::ExpressionPtr& item : select_.distinct_on) binder_.collect_windows(*item, place_, windows_);
  for (const ast::OrderItem& item : query_.order_by) binder_.collect_windows(*item.expression, place_, windows_);
  plan_ = binder_.add_windows(std::move(plan_), windows_);
  place_.windows = &windows_.by_node;
}

void QueryBinder::SelectBinding::bind_qualify() {
  if (!select_.qualify) return;
  if (windows_.by_node.empty()) refuse_at("QUALIFY needs a window function in it or in the select list", select_.qualify->position);
  ExpressionPlace place = place_;
  place.alias = aliases_for("QUALIFY");
  binder_.bind_filter(*select_.qualify, place, "QUALIFY");
}

// a + 1 AS b, b * 2: an alias of an earlier column of the select list, unless a table has a column of this name.
ExpressionPtr QueryBinder::SelectBinding::find_earlier(const ast::ColumnName& name, int64_t position) const {
  if (name.parts.size() != 1 || scope_.find_here(name.parts, position) != nullptr) return nullptr;
  for (size_t i = 0; i < listed_; ++i) {
    if (list_[i].item == nullptr || list_[i].item->alias != name.parts[0]) continue;
    if (is_outer_column(name, position)) return nullptr;
    size_t left = kLargestAliased;
    if (!is_smaller(*columns_[i].expression, left))
      refuse_at(fmt::format("the aliases in {} stand for too large an expression", name.parts[0]), position);
    return columns_[i].expression;
  }
  return nullptr;
}

// A column of an enclosing query takes precedence over an alias, as in PostgreSQL.
bool QueryBinder::SelectBinding::is_outer_column(const ast::ColumnName& name, int64_t position) const {
  for (const NameScope* around = outer_; around != nullptr; around = around->parent()) {
    if (around->find_here(name.parts, position) != nullptr) return true;
  }
  return false;
}

std::function<const ast::Expression*(const ast::ColumnName&, int64_t)> QueryBinder::SelectBinding::aliases_for(std::string_view clause) {
  return [this, clause](const ast::ColumnName& name, int64_t position) -> const ast::Expression* {
    const ast::Expression* aliased = grouping_.aliased_expression(name, clause, position);
    return aliased == nullptr || is_outer_column(name, position) ? nullptr : aliased;
  };
}

ExpressionPtr QueryBinder::SelectBinding::bind_item(const ast::Expression& expression) {
  // Not bound again: a subquery in it would be joined twice, the second time above the grouping.
  auto grouped = grouping_.by_item.find(&expression);
  if (grouped != grouping_.by_item.end()) return binder_.columns_.reference(grouped->second, expression.position);
  ExpressionPlace place = place_;
  place.earlier_column = [this](const ast::ColumnName& name, int64_t position) { return find_earlier(name, position); };
  ExpressionPtr bound = binder_.bind_expression(expression, place);
  return grouping_.is_grouped ? above_grouping(std::move(bound)) : bound;
}

void QueryBinder::SelectBinding::bind_list() {
  for (const NameScope* around = outer_; around != nullptr; around = around->parent()) {
    for (const ScopeColumn& column : around->columns()) taken_.insert(column.id);
  }
  for (const ListedColumn& listed : list_) {
    if (listed.column != nullptr) {
      add_column(listed);
    } else {
      add_item(*listed.item);
    }
    ++listed_;
  }
  visible_ = columns_.size();
}

void QueryBinder::SelectBinding::add_column(const ListedColumn& listed) {
  ExpressionPtr value = binder_.columns_.reference(listed.column->id, listed.position);
  if (grouping_.is_grouped) value = above_grouping(std::move(value));
  columns_.push_back(binder_.name_expression(std::move(value), listed.name, given_.columns(), taken_));
  bound_.output.push_back({columns_.back().id, listed.name});
}

void QueryBinder::SelectBinding::add_item(const ast::SelectItem& item) {
  std::string name = item.alias.empty() ? default_name(*item.expression) : item.alias;
  ExpressionPtr value = bind_item(*item.expression);
  bool is_untyped = value->is_untyped();
  columns_.push_back(binder_.name_expression(std::move(value), name, given_.columns(), taken_));
  bound_.output.push_back({columns_.back().id, name});
  if (is_untyped) bound_.note_untyped(columns_.back().id, columns_.back().expression->is_null_constant());
}

// An output column takes precedence over a column of the tables.
std::optional<ColumnId> QueryBinder::SelectBinding::find_output(const ast::ColumnName& column_name, int64_t position,
                                                                std::string_view clause) {
  const std::string& name = column_name.parts[0];
  std::optional<ColumnId> key;
  for (const OutputColumn* column : names_.find(name)) {
    if (column->name != name) continue;
    if (key && *key != column->id) refuse_at(fmt::format("{} {} is ambiguous", clause, column->name), position);
    key = column->id;
  }
  if (key || !may_be_unquoted(name) || scope_.find_exact(column_name.parts, position) != nullptr) return key;
  for (const OutputColumn* column : names_.find(name)) {
    if (key && *key != column->id) refuse_at(fmt::format("{} {} is ambiguous: write the name in quotes", clause, name), position);
    key = column->id;
  }
  return key;
}

ColumnId QueryBinder::SelectBinding::bind_key(const ast::Expression& item, std::string_view clause) {
  if (std::optional<size_t> ordinal = ordinal_of(item)) {
    if (*ordinal < 1 || *ordinal > visible_)
      refuse_at(fmt::format("{} {}: there are {} columns", clause, *ordinal, visible_), item.position);
    return bound_.output[*ordinal - 1].id;
  }
  if (const auto* name = std::get_if<ast::ColumnName>(&item.node); name != nullptr && name->parts.size() == 1) {
    if (std::optional<ColumnId> key = find_output(*name, item.position, clause)) return *key;
  }
  ExpressionPtr expression = bind_item(item);
  auto known = by_expression_.find(expression.get());
  if (known != by_expression_.end()) return known->second;
  if (is_distinct()) refuse_at("with DISTINCT, ORDER BY can use columns of the select list only", item.position);
  columns_.push_back(binder_.name_expression(std::move(expression), "order", given_.columns(), taken_));
  by_expression_.emplace(columns_.back().expression.get(), columns_.back().id);
  return columns_.back().id;
}

void QueryBinder::SelectBinding::bind_keys() {
  if (!query_.order_by.empty() || !select_.distinct_on.empty()) {
    for (const NamedExpression& column : columns_) by_expression_.emplace(column.expression.get(), column.id);
  }
  for (const ast::ExpressionPtr& item : select_.distinct_on) first_of_each_.groups.push_back(bind_key(*item, "DISTINCT ON"));
  for (const ast::OrderItem& item : query_.order_by) bind_order(item);
}

void QueryBinder::SelectBinding::bind_order(const ast::OrderItem& item) {
  auto add_key = [&](ColumnId key) { sort_.keys.push_back({binder_.columns_.reference(key), item.descending, is_nulls_first(item)}); };
  const auto* all = std::get_if<ast::Star>(&item.expression->node);
  if (all == nullptr) return add_key(bind_key(*item.expression, "ORDER BY"));
  refuse_changed_star(*all, item.expression->position);
  for (const OutputColumn& column : bound_.output) add_key(column.id);
}

// The plan above the grouping: select list, DISTINCT, ORDER BY, LIMIT; hidden columns are dropped last.
BoundQuery QueryBinder::SelectBinding::finish() {
  bool has_hidden = columns_.size() > visible_;
  LogicalPtr plan = binder_.project(std::move(plan_), std::move(columns_));
  if (is_distinct()) {
    LogicalAggregate distinct;
    for (const OutputColumn& column : bound_.output) distinct.groups.push_back(column.id);
    plan = make_node(std::move(distinct), std::move(plan));
  }
  if (!first_of_each_.groups.empty()) {
    first_of_each_.keys = sort_.keys;
    plan = make_node(std::move(first_of_each_), std::move(plan));
  }
  if (!sort_.keys.empty()) plan = make_node(std::move(sort_), std::move(plan));
  bound_.plan = std::move(plan);
  binder_.limit_output(query_, bound_);
  if (has_hidden) {
    std::vector<NamedExpression> shown;
    for (const OutputColumn& column : bound_.output) shown.push_back({column.id, binder_.columns_.reference(column.id)});
    bound_.plan = binder_.project(std::move(bound_.plan), std::move(shown));
  }
  return std::move(bound_);
}

}  // namespace pistachio
