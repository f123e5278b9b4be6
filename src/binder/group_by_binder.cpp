// GROUP BY: the groups of one SELECT, by expression, alias or position of the select list, in grouping sets.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "binder/expression_binding.h"
#include "binder/grouping.h"
#include "binder/name_match.h"
#include "binder/syntax_walk.h"
#include "expr/function_table.h"
#include "expr/type_rules.h"
#include "parser/ast_text.h"

namespace pistachio {

namespace {

// Whether it contains an aggregate or a window function of its own query, which GROUP BY ALL does not group by.
bool contains_aggregate(const ast::Expression& expression) {
  if (const auto* call = std::get_if<ast::Call>(&expression.node)) {
    if (call->over != nullptr || find_aggregate(call->name) != nullptr || is_grouping_call(*call)) return true;
  }
  bool found = false;
  for_each_child(expression, [&](const ast::Expression& child) { found = found || contains_aggregate(child); });
  return found;
}

// An INTEGER that is not negative.
constexpr size_t kMaxGroupingBits = 31;

std::string group_name(const Expression& group, const ColumnRegistry& columns) {
  return group.kind() == ExpressionKind::Column ? columns.name(group.column_id()) : "group";
}

}  // namespace

class QueryBinder::GroupBinding {
 public:
  GroupBinding(QueryBinder& binder, const ast::Select& select, Grouping& grouping)
      : binder_(binder), select_(select), grouping_(grouping), given_(*grouping.input) {
    place_ = {.scope = grouping.scope, .input = grouping.input, .no_aggregate = "in GROUP BY", .is_group = true};
    place_.alias = [this](const ast::ColumnName& name, int64_t position) { return aliased_expression(name, position); };
  }
  GroupBinding(const GroupBinding&) = delete;
  GroupBinding& operator=(const GroupBinding&) = delete;

  void bind() {
    if (select_.group_by_all) bind_all();
    std::vector<ColumnId> ids;  // by place in group_by
    for (const ast::ExpressionPtr& item : select_.group_by) {
      const std::optional<size_t> number = ordinal_of(*item);
      ids.push_back(number ? bind_ordinal(*item, *number) : bind_item(*item));
    }
    if (select_.grouping_sets) add_sets(ids);
  }

 private:
  const ast::Expression* aliased_expression(const ast::ColumnName& name, int64_t position) const {
    return grouping_.aliased_expression(name, "GROUP BY", position);
  }

  void bind_all() {
    for (const ListedColumn& listed : *grouping_.list) {
      if (listed.column != nullptr || !contains_aggregate(*listed.item->expression)) bind_listed(listed);
    }
  }

  ColumnId bind_ordinal(const ast::Expression& item, size_t number) {
    if (number < 1 || number > grouping_.list->size()) {
      const std::string& text = std::get<ast::Literal>(item.node).text;
      refuse_at(fmt::format("GROUP BY {}: the select list has {} columns", text, grouping_.list->size()), item.position);
    }
    return bind_listed((*grouping_.list)[number - 1]);
  }

  ColumnId bind_listed(const ListedColumn& listed) {
    if (listed.column != nullptr) return add(nullptr, binder_.columns_.reference(listed.column->id, listed.position));
    const ast::Expression& expression = *listed.item->expression;
    return add(&expression, binder_.bind_expression(expression, place_));
  }

  // A column of the tables takes precedence over an alias of the select list.
  ColumnId bind_item(const ast::Expression& item) {
    const auto* name = std::get_if<ast::ColumnName>(&item.node);
    const ast::Expression* aliased = name == nullptr ? nullptr : aliased_expression(*name, item.position);
    const ast::Expression& expression = aliased != nullptr ? *aliased : item;
    return add(&expression, binder_.bind_expression(expression, place_));
  }

  // The column that the aggregate outputs for the group. `written`: the expression behind it; null for a column of *.
  ColumnId add(const ast::Expression* written, ExpressionPtr bound) {
    if (bound->is_untyped()) bound = coerce(std::move(bound), TypeKind::Varchar);
    auto known = grouping_.by_group.find(bound.get());
    if (known != grouping_.by_group.end()) {
      if (written != nullptr) grouping_.by_item.emplace(written, known->second);
      return known->second;
    }
    // With grouping sets a group column can be NULL where the column of the table is not, so that it is another column.
    const bool is_column =
        bound->kind() == ExpressionKind::Column && given_.columns().contains(bound->column_id()) && !select_.grouping_sets;
    const ColumnId id = is_column ? bound->column_id() : binder_.columns_.add(group_name(*bound, binder_.columns_), bound->type());
    if (written != nullptr) grouping_.by_item.emplace(written, id);
    grouping_.by_group.emplace(bound.get(), id);
    grouping_.groups.push_back({id, std::move(bound)});
    return id;
  }

  void add_sets(const std::vector<ColumnId>& ids) {
    std::set<std::vector<ColumnId>> known;
    for (const std::vector<size_t>& places : *select_.grouping_sets) {
      std::vector<ColumnId> set;
      for (size_t place : places) set.push_back(ids[place]);
      std::sort(set.begin(), set.end());
      set.erase(std::unique(set.begin(), set.end()), set.end());
      if (!select_.distinct_sets || known.insert(set).second) grouping_.sets.push_back(std::move(set));
    }
    grouping_.set_number = binder_.columns_.add("set", TypeKind::Integer);
  }

  QueryBinder& binder_;
  const ast::Select& select_;
  Grouping& grouping_;
  ExpressionPlace place_;
  PlanColumns given_;
};

void QueryBinder::bind_groups(const ast::Select& select, Grouping& grouping) {
  GroupBinding(*this, select, grouping).bind();
}

// An exact match wins. Several items with the same expression are not ambiguous.
const ast::SelectItem* Grouping::find_alias(const std::string& alias, std::string_view clause, int64_t position) const {
  auto only = [&](const auto& matches) {
    const ast::SelectItem* found = nullptr;
    for (const ListedColumn& listed : *list) {
      const ast::SelectItem* item = listed.item;
      if (item == nullptr || item->alias.empty() || !matches(item->alias)) continue;
      if (found != nullptr && to_text(*found->expression) != to_text(*item->expression))
        refuse_at(fmt::format("{} {} is ambiguous", clause, alias), position);
      found = item;
    }
    return found;
  };
  const ast::SelectItem* exact = only([&](const std::string& other) { return other == alias; });
  if (exact != nullptr || !may_be_unquoted(alias)) return exact;
  return only([&](const std::string& other) { return matches_without_case(alias, other); });
}

const ast::Expression* Grouping::aliased_expression(const ast::ColumnName& name, std::string_view clause, int64_t position) const {
  if (name.parts.size() != 1 || scope->find_here(name.parts, position) != nullptr) return nullptr;
  const ast::SelectItem* item = find_alias(name.parts[0], clause, position);
  return item == nullptr ? nullptr : item->expression.get();
}

// grouping(a, b): a bit for each argument, the last one the lowest: 1 if the row's grouping set does not group by it.
ExpressionPtr QueryBinder::ExpressionBinding::bind_grouping_call(const ast::Call& call, int64_t position) {
  if (place_.grouping == nullptr) refuse_at(fmt::format("{} needs GROUP BY and cannot be used here", call.name), position);
  if (call.arguments.empty() || call.arguments.size() > kMaxGroupingBits)
    refuse_at(fmt::format("{} takes 1 to {} arguments", call.name, kMaxGroupingBits), position);
  const Grouping& grouping = *place_.grouping;
  std::vector<ColumnId> columns;
  for (const ast::ExpressionPtr& argument : call.arguments) {
    const ExpressionPtr bound = bind(*argument);
    auto group = grouping.by_group.find(bound.get());
    if (group == grouping.by_group.end())
      refuse_at(fmt::format("the arguments of {} must be expressions of GROUP BY", call.name), argument->position);
    columns.push_back(group->second);
  }
  auto constant = [&](int64_t value) { return Expression::constant(ScalarValue::of_integer(TypeKind::Integer, value), position); };
  if (grouping.sets.empty()) return constant(0);
  std::vector<ExpressionPtr> children;
  for (size_t i = 0; i < grouping.sets.size(); ++i) {
    int64_t bits = 0;
    for (ColumnId column : columns)
      bits = 2 * bits + (std::binary_search(grouping.sets[i].begin(), grouping.sets[i].end(), column) ? 0 : 1);
    if (i + 1 < grouping.sets.size()) {
      children.push_back(make_call("=", {binder_.columns_.reference(grouping.set_number), constant(static_cast<int64_t>(i))}, position));
    }
    children.push_back(constant(bits));
  }
  if (children.size() == 1) return children[0];
  return Expression::conditional(ExpressionKind::Case, std::move(children), TypeKind::Integer, position);
}

ExpressionPtr Grouping::above(ExpressionPtr expression, const ColumnRegistry& columns) const {
  auto group = by_group.find(expression.get());
  if (group != by_group.end()) return columns.reference(group->second, expression->position());
  if (expression->kind() == ExpressionKind::Column) {
    if (const ScopeColumn* column = scope->find_id(expression->column_id()))
      refuse_at(fmt::format("column {} must be in GROUP BY or inside an aggregate", column->name), expression->position());
    return expression;
  }
  std::vector<ExpressionPtr> children;
  bool changed = false;
  for (const ExpressionPtr& child : expression->children()) {
    children.push_back(above(child, columns));
    changed = changed || children.back() != child;
  }
  return changed ? expression->with_children(std::move(children)) : expression;
}

}  // namespace pistachio
