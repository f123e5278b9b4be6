// Turns dependent joins into ordinary ones, for any subquery (after Neumann and Kemper, "Unnesting Arbitrary Queries").
// First, correlated conditions near the top of the right side are pulled up into the join. If correlation remains, the subquery is computed
// for all outer values at once: the domain D of distinct outer values is joined at the leaves of the right side and carried up through its
// operators (grouping by it, joining on it), and the dependent join becomes a plain join on the outer values. Where a filter equates every
// outer value with a column of the subquery, that column replaces D.
#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "base/check.h"
#include "expr/column_set.h"
#include "expr/function.h"
#include "expr/function_table.h"
#include "optimizer/rules.h"

namespace pistachio {

namespace {

using Mapping = std::map<ColumnId, ColumnId>;

class Unnester {
 public:
  Unnester(LogicalPlan& plan, const CancelToken& token) : plan_(plan), token_(token) {}

  void unnest(LogicalPtr& node) {
    stop_if_cancelled(token_);
    auto* join = node->as<LogicalJoin>();
    if (join != nullptr && join->dependent) make_plain(*node);
    for (LogicalPtr& child : node->children) unnest(child);
  }

 private:
  struct Pushed {
    LogicalPtr plan;
    Mapping mapping;  // outer column -> column of `plan` with the same value
  };

  // The correlation of one dependent join.
  struct Domain {
    std::vector<ColumnId> columns;
    size_t left = 0;  // the shared plan that is the join's left side; set when first needed
    bool is_shared = false;
    LogicalPtr* left_side = nullptr;
    // An aggregate without groups whose row may be missing for outer values without input rows.
    const LogicalNode* lenient_aggregate = nullptr;
    ColumnSet set() const { return {columns.begin(), columns.end()}; }
  };

  ExpressionPtr reference(ColumnId id) const { return plan_.columns.reference(id); }

  ExpressionPtr mapped(const ExpressionPtr& expression, const Mapping& mapping) const {
    return replace_columns(expression, [&](ColumnId id) {
      auto found = mapping.find(id);
      return found == mapping.end() ? nullptr : reference(found->second);
    });
  }

  void map_all(std::vector<ExpressionPtr>& expressions, const Mapping& mapping) const {
    for (ExpressionPtr& expression : expressions) expression = mapped(expression, mapping);
  }

  ExpressionPtr same_value(ColumnId left, ColumnId right) const {
    return make_call("is not distinct from", {reference(left), reference(right)});
  }

  void make_plain(LogicalNode& node) {
    auto& join = *node.as<LogicalJoin>();
    join.dependent = false;
    ColumnSet outer = output_set(node.left());
    if (join.kind == JoinKind::Mark && join.comparisons.empty()) peel_existence(node.children[1]);
    if (intersection(free_columns(node.right()), outer).empty()) return;
    pull_conditions(node.children[1], outer, join.conditions);
    ColumnSet correlated = intersection(free_columns(node.right()), outer);
    if (correlated.empty()) return;
    Domain domain;
    domain.columns.assign(correlated.begin(), correlated.end());
    distinguish_equal_values(node, domain);
    domain.left_side = &node.children[0];
    if (join.kind == JoinKind::Single) domain.lenient_aggregate = lenient_aggregate(node.right());
    Pushed pushed = push(std::move(node.children[1]), domain);
    node.children[1] = std::move(pushed.plan);
    for (ColumnId column : domain.columns) join.conditions.push_back(same_value(column, pushed.mapping.at(column)));
  }

  // Equal values may still be distinguishable: 0.0 and -0.0, one month and 30 days. If the subquery does more with such an outer value than
  // compare it, the domain also contains the text of the value, so that each outer row gets the result for its own value.
  void distinguish_equal_values(LogicalNode& node, Domain& domain) {
    LogicalProject project;
    std::vector<ColumnId> texts;
    for (ColumnId column : domain.columns) {
      LogicalType type = plan_.columns.type(column);
      bool may_differ = type.is_floating() || type.kind() == TypeKind::Interval;
      if (!may_differ || only_compares(node.right(), column)) continue;
      texts.push_back(plan_.columns.add(plan_.columns.name(column) + " text", TypeKind::Varchar));
      project.columns.push_back({texts.back(), Expression::cast(reference(column), TypeKind::Varchar)});
    }
    if (texts.empty()) return;
    for (ColumnId column : output_columns(node.left())) project.columns.push_back({column, reference(column)});
    node.children[0] = make_node(std::move(project), std::move(node.children[0]));
    domain.columns.insert(domain.columns.end(), texts.begin(), texts.end());
  }

  // Whether the column is used only as an operand of comparisons.
  static bool only_compares(const Expression& expression, ColumnId column) {
    static constexpr std::array<std::string_view, 10> kComparing = {
        "=", "<>", "<", "<=", ">", ">=", "is distinct from", "is not distinct from", "is null", "is not null"};
    if (expression.kind() == ExpressionKind::Column) return expression.column_id() != column;
    bool compares = expression.kind() == ExpressionKind::Call &&
                    std::find(kComparing.begin(), kComparing.end(), expression.function().name) != kComparing.end();
    return std::all_of(expression.children().begin(), expression.children().end(), [&](const ExpressionPtr& child) {
      return (compares && child->kind() == ExpressionKind::Column) || only_compares(*child, column);
    });
  }

  static bool only_compares(const LogicalNode& node, ColumnId column) {
    bool compares = true;
    for_each_expression(node, [&](const ExpressionPtr& expression) { compares = compares && only_compares(*expression, column); });
    if (const auto* aggregate = node.as<LogicalAggregate>())
      compares = compares && std::find(aggregate->groups.begin(), aggregate->groups.end(), column) == aggregate->groups.end();
    if (const auto* window = node.as<LogicalWindow>())
      compares = compares && std::find(window->partition.begin(), window->partition.end(), column) == window->partition.end();
    return compares && std::all_of(node.children.begin(), node.children.end(),
                                   [&](const LogicalPtr& child) { return only_compares(*child, column); });
  }

  // EXISTS only needs a row: columns, order and number of rows do not matter.
  static void peel_existence(LogicalPtr& node) {
    while (true) {
      const auto* limit = node->as<LogicalLimit>();
      const auto* aggregate = node->as<LogicalAggregate>();
      bool harmless = node->as<LogicalProject>() != nullptr || node->as<LogicalSort>() != nullptr || node->as<LogicalWindow>() != nullptr ||
                      (limit != nullptr && limit->offset == 0 && limit->limit.value_or(1) > 0) ||
                      (aggregate != nullptr && !aggregate->groups.empty());
      if (!harmless) return;
      LogicalPtr child = std::move(node->children[0]);
      node = std::move(child);
    }
  }

  // Moves conditions on outer columns out of the top of a subquery.
  void pull_conditions(LogicalPtr& node, const ColumnSet& outer, std::vector<ExpressionPtr>& pulled) {
    auto take = [&](std::vector<ExpressionPtr>& conditions) {
      auto stays = [&](const ExpressionPtr& condition) { return !uses_any_of(*condition, outer); };
      auto first = std::stable_partition(conditions.begin(), conditions.end(), stays);
      pulled.insert(pulled.end(), first, conditions.end());
      conditions.erase(first, conditions.end());
    };
    if (auto* filter = node->as<LogicalFilter>()) {
      take(filter->conditions);
      pull_conditions(node->children[0], outer, pulled);
      if (filter->conditions.empty()) {
        LogicalPtr child = std::move(node->children[0]);
        node = std::move(child);
      }
      return;
    }
    if (auto* project = node->as<LogicalProject>()) {
      size_t before = pulled.size();
      pull_conditions(node->children[0], outer, pulled);
      ColumnSet below = output_set(*node->children[0]);
      ColumnSet given = output_set(*node);
      for (size_t i = before; i < pulled.size(); ++i) {
        for (ColumnId column : columns_of(*pulled[i])) {
          if (below.contains(column) && given.insert(column)) project->columns.push_back({column, reference(column)});
        }
      }
      return;
    }
    auto* join = node->as<LogicalJoin>();
    if (join != nullptr && join->kind == JoinKind::Inner && !join->dependent) {
      take(join->conditions);
      for (LogicalPtr& child : node->children) pull_conditions(child, outer, pulled);
    }
  }

  static bool is_strict(const Expression& expression) {
    switch (expression.kind()) {
      case ExpressionKind::Constant: return !expression.value().is_null;
      case ExpressionKind::Column: return true;
      case ExpressionKind::Cast: break;
      case ExpressionKind::Call:
        if (expression.function().null_rule != NullRule::Strict) return false;
        break;
      default: return false;
    }
    return std::all_of(expression.children().begin(), expression.children().end(),
                       [](const ExpressionPtr& child) { return is_strict(*child); });
  }

  // A scalar subquery that is NULL for empty input: an outer join's NULL padding gives the same result.
  static const LogicalNode* lenient_aggregate(const LogicalNode& node) {
    const LogicalNode* at = &node;
    while (const auto* project = at->as<LogicalProject>()) {
      // Each value must come from the input: an outer column has a value even without input rows.
      ColumnSet below = output_set(*at->children[0]);
      for (const NamedExpression& column : project->columns) {
        if (!is_strict(*column.expression) || !uses_any_of(*column.expression, below)) return nullptr;
      }
      at = at->children[0].get();
    }
    const auto* aggregate = at->as<LogicalAggregate>();
    if (aggregate == nullptr || !aggregate->groups.empty()) return nullptr;
    for (const AggregateCall& call : aggregate->calls) {
      if (is_count(*call.function)) return nullptr;
    }
    return at;
  }

  // The domain: the distinct outer values, under new ids. The left side is then read twice, so it becomes a shared plan.
  Pushed instantiate(Domain& domain) {
    if (!domain.is_shared) {
      LogicalSharedRead left{.shared = plan_.shared.size()};
      left.columns = output_columns(**domain.left_side);
      left.sources = left.columns;
      plan_.shared.push_back(std::move(*domain.left_side));
      *domain.left_side = make_node(left);
      domain.left = left.shared;
      domain.is_shared = true;
    }
    Pushed made;
    LogicalSharedRead read{.shared = domain.left};
    LogicalAggregate distinct;
    for (ColumnId column : domain.columns) {
      ColumnId id = plan_.columns.add(plan_.columns.name(column), plan_.columns.type(column));
      read.columns.push_back(id);
      read.sources.push_back(column);
      distinct.groups.push_back(id);
      made.mapping.emplace(column, id);
    }
    made.plan = make_node(std::move(distinct), make_node(std::move(read)));
    return made;
  }

  Pushed cross_with_domain(LogicalPtr node, Domain& domain) {
    Pushed made = instantiate(domain);
    made.plan = make_node(LogicalJoin{.kind = JoinKind::Inner}, std::move(made.plan), std::move(node));
    return made;
  }

  bool is_correlated(const LogicalNode& node, const Domain& domain) const {
    return !intersection(free_columns(node), domain.set()).empty();
  }

  Pushed push(LogicalPtr node, Domain& domain) {
    if (!is_correlated(*node, domain)) return cross_with_domain(std::move(node), domain);
    if (node->as<LogicalFilter>() != nullptr) return push_filter(std::move(node), domain);
    if (node->as<LogicalProject>() != nullptr) return push_project(std::move(node), domain);
    if (node->as<LogicalJoin>() != nullptr) return push_join(std::move(node), domain);
    if (node->as<LogicalAggregate>() != nullptr) return push_aggregate(std::move(node), domain);
    if (node->as<LogicalSetOperation>() != nullptr) return push_set_operation(std::move(node), domain);
    if (node->as<LogicalLimit>() != nullptr) return push_limit(std::move(node), domain);
    if (node->as<LogicalWindow>() != nullptr) return push_window(std::move(node), domain);
    // Order only matters to LIMIT, which takes over the keys.
    const auto* sort = node->as<LogicalSort>();
    ENSURE(sort != nullptr && !sort->limit);
    return push(std::move(node->children[0]), domain);
  }

  // If the filter equates every outer column with an expression over its input: these expressions, by outer column.
  std::optional<std::map<ColumnId, ExpressionPtr>> equated(const LogicalNode& node, const Domain& domain) const {
    ColumnSet own = output_set(*node.children[0]);
    std::map<ColumnId, ExpressionPtr> values;
    for (const ExpressionPtr& condition : node.as<LogicalFilter>()->conditions) {
      if (condition->kind() != ExpressionKind::Call || condition->function().name != "=") continue;
      for (size_t side : {0, 1}) {
        const ExpressionPtr& outer = condition->children()[side];
        const ExpressionPtr& inner = condition->children()[1 - side];
        if (outer->kind() != ExpressionKind::Column || !domain.set().contains(outer->column_id())) continue;
        if (is_subset(columns_of(*inner), own) && !columns_of(*inner).empty()) values.emplace(outer->column_id(), inner);
      }
    }
    if (values.size() != domain.columns.size()) return std::nullopt;
    return values;
  }

  // If the condition equates an outer column with its replacement: the outer column.
  static std::optional<ColumnId> equated_column(const Expression& condition, const std::map<ColumnId, ExpressionPtr>& values) {
    if (condition.kind() != ExpressionKind::Call || condition.function().name != "=") return std::nullopt;
    for (size_t side : {0, 1}) {
      const ExpressionPtr& outer = condition.children()[side];
      if (outer->kind() != ExpressionKind::Column) continue;
      auto found = values.find(outer->column_id());
      if (found != values.end() && found->second == condition.children()[1 - side]) return found->first;
    }
    return std::nullopt;
  }

  Pushed push_filter(LogicalPtr node, Domain& domain) {
    auto& filter = *node->as<LogicalFilter>();
    if (!is_correlated(*node->children[0], domain)) {
      if (auto values = equated(*node, domain)) {
        Pushed made;
        LogicalProject project;
        for (ColumnId column : output_columns(*node->children[0])) project.columns.push_back({column, reference(column)});
        for (const auto& [outer, value] : *values) {
          ColumnId id = plan_.columns.add(plan_.columns.name(outer), value->type());
          project.columns.push_back({id, value});
          made.mapping.emplace(outer, id);
        }
        std::vector<ExpressionPtr> rest;
        for (const ExpressionPtr& condition : filter.conditions) {
          // The equality that provided the value becomes IS NOT NULL.
          std::optional<ColumnId> outer = equated_column(*condition, *values);
          rest.push_back(outer ? make_call("is not null", {reference(made.mapping.at(*outer))}) : mapped(condition, made.mapping));
        }
        node->children[0] = make_node(std::move(project), std::move(node->children[0]));
        filter.conditions = std::move(rest);
        made.plan = std::move(node);
        return made;
      }
    }
    Pushed made = push(std::move(node->children[0]), domain);
    map_all(filter.conditions, made.mapping);
    node->children[0] = std::move(made.plan);
    made.plan = std::move(node);
    return made;
  }

  Pushed push_project(LogicalPtr node, Domain& domain) {
    Pushed made = push(std::move(node->children[0]), domain);
    auto& project = *node->as<LogicalProject>();
    for (NamedExpression& column : project.columns) column.expression = mapped(column.expression, made.mapping);
    if (!project.keeps_input) {
      for (const auto& [outer, id] : made.mapping) project.columns.push_back({id, reference(id)});
    }
    node->children[0] = std::move(made.plan);
    made.plan = std::move(node);
    return made;
  }

  void substitute(LogicalNode& node, const Mapping& mapping) const {
    for_each_expression(node, [&](ExpressionPtr& expression) { expression = mapped(expression, mapping); });
    if (auto* aggregate = node.as<LogicalAggregate>()) {
      for (ColumnId& group : aggregate->groups) {
        auto found = mapping.find(group);
        if (found != mapping.end()) group = found->second;
      }
    }
    if (auto* limit = node.as<LogicalLimit>()) {
      for (ColumnId& group : limit->groups) {
        auto found = mapping.find(group);
        if (found != mapping.end()) group = found->second;
      }
    }
    if (auto* window = node.as<LogicalWindow>()) {
      for (ColumnId& column : window->partition) {
        auto found = mapping.find(column);
        if (found != mapping.end()) column = found->second;
      }
    }
    for (LogicalPtr& child : node.children) substitute(*child, mapping);
  }

  Pushed push_join(LogicalPtr node, Domain& domain) {
    auto& join = *node->as<LogicalJoin>();
    if (join.dependent) {
      // The inner subquery then depends only on its own left side.
      Pushed made = push(std::move(node->children[0]), domain);
      substitute(*node->children[1], made.mapping);
      map_all(join.conditions, made.mapping);
      map_all(join.comparisons, made.mapping);
      node->children[0] = std::move(made.plan);
      made.plan = std::move(node);
      return made;
    }
    bool in_left = is_correlated(node->left(), domain);
    bool in_right = is_correlated(node->right(), domain);
    // The preserved side must contain the domain, or unmatched rows would lose their outer value.
    bool push_left = in_left || (join.kind != JoinKind::Right && !(join.kind == JoinKind::Inner && in_right));
    bool push_right = in_right || join.kind == JoinKind::Right || join.kind == JoinKind::Full;
    Pushed left;
    Pushed right;
    if (push_left) {
      left = push(std::move(node->children[0]), domain);
      node->children[0] = std::move(left.plan);
    }
    if (push_right) {
      right = push(std::move(node->children[1]), domain);
      node->children[1] = std::move(right.plan);
    }
    Pushed made;
    made.mapping = push_left && join.kind != JoinKind::Right ? left.mapping : right.mapping;
    map_all(join.conditions, made.mapping);
    map_all(join.comparisons, made.mapping);
    if (push_left && push_right) {
      for (ColumnId column : domain.columns) join.conditions.push_back(same_value(left.mapping.at(column), right.mapping.at(column)));
    }
    made.plan = std::move(node);
    if (join.kind == JoinKind::Full) coalesce_domain(made, right.mapping);
    return made;
  }

  // A row of a full join has its outer value on the side that is present, and NULL on the padded side. If the value itself is NULL, it is
  // NULL on both. COALESCE of both sides is correct in all cases.
  void coalesce_domain(Pushed& joined, const Mapping& right) {
    LogicalProject project;
    for (ColumnId column : output_columns(*joined.plan)) project.columns.push_back({column, reference(column)});
    for (auto& [outer, id] : joined.mapping) {
      LogicalType type = plan_.columns.type(id);
      ExpressionPtr either = Expression::conditional(ExpressionKind::Coalesce, {reference(id), reference(right.at(outer))}, type);
      id = plan_.columns.add(plan_.columns.name(outer), type);
      project.columns.push_back({id, std::move(either)});
    }
    joined.plan = make_node(std::move(project), std::move(joined.plan));
  }

  Pushed push_aggregate(LogicalPtr node, Domain& domain) {
    bool has_groups = !node->as<LogicalAggregate>()->groups.empty();
    bool lenient = node.get() == domain.lenient_aggregate;
    Pushed made = push(std::move(node->children[0]), domain);
    node->children[0] = std::move(made.plan);
    auto& aggregate = *node->as<LogicalAggregate>();
    for (AggregateCall& call : aggregate.calls) {
      if (call.argument) call.argument = mapped(call.argument, made.mapping);
      if (call.filter) call.filter = mapped(call.filter, made.mapping);
    }
    for (const auto& [outer, id] : made.mapping) aggregate.groups.push_back(id);
    if (has_groups || lenient) {
      made.plan = std::move(node);
      return made;
    }
    // Without groups there is a row even for outer values without input rows, with count 0.
    LogicalProject project;
    for (AggregateCall& call : aggregate.calls) {
      ExpressionPtr value = reference(call.id);
      if (is_count(*call.function)) {
        ColumnId original = call.id;
        call.id = plan_.columns.add("count", call.type);
        ExpressionPtr zero = Expression::constant(ScalarValue::of_integer(call.type, 0));
        value = Expression::conditional(ExpressionKind::Coalesce, {reference(call.id), zero}, call.type);
        project.columns.push_back({original, value});
      } else {
        project.columns.push_back({call.id, value});
      }
    }
    Pushed all = instantiate(domain);
    LogicalJoin join{.kind = JoinKind::Left};
    for (const auto& [outer, id] : all.mapping) {
      join.conditions.push_back(same_value(id, made.mapping.at(outer)));
      project.columns.push_back({id, reference(id)});
    }
    all.plan = make_node(std::move(project), make_node(std::move(join), std::move(all.plan), std::move(node)));
    return all;
  }

  // Removes the sort that orders the rows of a node and returns its keys; none if there is no sort.
  std::vector<SortKey> take_order(LogicalPtr& node) const {
    if (auto* sort = node->as<LogicalSort>()) {
      std::vector<SortKey> keys = std::move(sort->keys);
      LogicalPtr child = std::move(node->children[0]);
      node = std::move(child);
      return keys;
    }
    auto* project = node->as<LogicalProject>();
    if (project == nullptr) return {};
    std::vector<SortKey> keys = take_order(node->children[0]);
    ColumnSet below = output_set(*node->children[0]);
    ColumnSet given = output_set(*node);
    for (const SortKey& key : keys) {
      for (ColumnId column : columns_of(*key.expression)) {
        if (below.contains(column) && given.insert(column)) project->columns.push_back({column, reference(column)});
      }
    }
    return keys;
  }

  // LIMIT applies per outer value.
  Pushed push_limit(LogicalPtr node, Domain& domain) {
    if (node->as<LogicalLimit>()->groups.empty()) node->as<LogicalLimit>()->keys = take_order(node->children[0]);
    Pushed made = push(std::move(node->children[0]), domain);
    node->children[0] = std::move(made.plan);
    auto& limit = *node->as<LogicalLimit>();
    for (SortKey& key : limit.keys) key.expression = mapped(key.expression, made.mapping);
    for (const auto& [outer, id] : made.mapping) limit.groups.push_back(id);
    made.plan = std::move(node);
    return made;
  }

  // The rows of each outer value have windows of their own.
  Pushed push_window(LogicalPtr node, Domain& domain) {
    Pushed made = push(std::move(node->children[0]), domain);
    node->children[0] = std::move(made.plan);
    for_each_expression(*node, [&](ExpressionPtr& expression) { expression = mapped(expression, made.mapping); });
    auto& window = *node->as<LogicalWindow>();
    for (const auto& [outer, id] : made.mapping) window.partition.push_back(id);
    made.plan = std::move(node);
    return made;
  }

  Pushed push_set_operation(LogicalPtr node, Domain& domain) {
    Pushed left = push(std::move(node->children[0]), domain);
    Pushed right = push(std::move(node->children[1]), domain);
    auto& operation = *node->as<LogicalSetOperation>();
    ENSURE(!operation.working_table);
    Pushed made;
    for (ColumnId column : domain.columns) {
      ColumnId id = plan_.columns.add(plan_.columns.name(column), plan_.columns.type(column));
      operation.columns.push_back(id);
      operation.left_columns.push_back(left.mapping.at(column));
      operation.right_columns.push_back(right.mapping.at(column));
      made.mapping.emplace(column, id);
    }
    node->children[0] = std::move(left.plan);
    node->children[1] = std::move(right.plan);
    made.plan = std::move(node);
    return made;
  }

  LogicalPlan& plan_;
  const CancelToken& token_;
};

}  // namespace

void unnest_subqueries(LogicalPlan& plan, const CancelToken& token) {
  Unnester unnester(plan, token);
  unnester.unnest(plan.root);
  // Unnesting creates shared plans, which may contain subqueries themselves.
  for (size_t i = 0; i < plan.shared.size(); ++i) {
    if (!plan.shared[i]) continue;
    LogicalPtr shared = std::move(plan.shared[i]);
    unnester.unnest(shared);
    plan.shared[i] = std::move(shared);
  }
}

}  // namespace pistachio
