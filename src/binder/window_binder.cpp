// Window functions. Their calls are bound before the select list, above GROUP BY: their operands may contain aggregates, but no window
// functions. Calls with the same partitions share one plan node, and one sort, if the order of one continues that of the other.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "binder/syntax_walk.h"
#include "binder/window_frame_binder.h"
#include "binder/windows.h"
#include "expr/stability.h"
#include "expr/type_rules.h"

namespace pistachio {

namespace {

// A window after its named ones have been looked up.
struct ResolvedWindow {
  const std::vector<ast::ExpressionPtr>* partition_by = nullptr;
  const std::vector<ast::OrderItem>* order_by = nullptr;
  const ast::WindowFrame* frame = nullptr;  // null: the default one
};

bool same_key(const SortKey& left, const SortKey& right) {
  return left.descending == right.descending && left.nulls_first == right.nulls_first && same_expression(*left.expression, *right.expression);
}

bool is_prefix(const std::vector<SortKey>& part, const std::vector<SortKey>& whole) {
  return part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin(), same_key);
}

bool same_or_none(const ExpressionPtr& left, const ExpressionPtr& right) {
  return (!left && !right) || (left && right && same_expression(*left, *right));
}

bool same_bound(const FrameBound& left, const FrameBound& right) {
  return left.kind == right.kind && left.count == right.count && same_or_none(left.value, right.value);
}

bool is_stable_call(const WindowCall& call) {
  bool stable = !call.filter || is_stable(*call.filter);
  for (const ExpressionPtr& argument : call.arguments) stable = stable && is_stable(*argument);
  return stable;
}

// Whether two calls of one plan node have equal results.
bool same_call(const WindowCall& left, const WindowCall& right) {
  return left.kind == right.kind && left.aggregate == right.aggregate && left.distinct == right.distinct &&
         left.ignore_nulls == right.ignore_nulls && left.order_keys == right.order_keys && same_or_none(left.filter, right.filter) &&
         left.frame.unit == right.frame.unit && left.frame.exclusion == right.frame.exclusion &&
         same_bound(left.frame.begin, right.frame.begin) && same_bound(left.frame.end, right.frame.end) &&
         std::equal(left.arguments.begin(), left.arguments.end(), right.arguments.begin(), right.arguments.end(), same_or_none) &&
         is_stable_call(left);
}

}  // namespace

void QueryBinder::Windows::name_all(const std::vector<ast::WindowDefinition>& definitions) {
  for (const ast::WindowDefinition& definition : definitions) {
    if (!definition.base.empty() && !named.contains(definition.base))
      refuse_at(fmt::format("there is no window {}", definition.base), definition.position);
    if (!named.emplace(definition.name, &definition).second)
      refuse_at(fmt::format("there are two windows {}", definition.name), definition.position);
  }
}

// One window call while it is bound.
class QueryBinder::WindowBinding {
 public:
  WindowBinding(QueryBinder& binder, const ExpressionPlace& place, Windows& windows) : binder_(binder), place_(place), windows_(windows) {}

  void bind(const ast::Call& node, int64_t position) {
    const ResolvedWindow window = resolve(*node.over);
    LogicalWindow made;
    for (const ast::ExpressionPtr& item : *window.partition_by) add_partition(*item, made.partition);
    for (const ast::OrderItem& item : *window.order_by) {
      ExpressionPtr key = bind_typed(*item.expression);
      made.order.push_back({std::move(key), item.descending, is_nulls_first(item)});
    }
    WindowCall call = bind_function(node, position);
    call.order_keys = made.order.size();
    if (window.frame != nullptr) {
      auto bind_offset = [&](const ast::Expression& offset) { return bind_constant_offset(offset); };
      WindowFrame frame = bind_window_frame(*window.frame, made.order, node.over->position, bind_offset, binder_.options_.token);
      if (uses_frame(call.kind)) call.frame = std::move(frame);
    }
    windows_.by_node.emplace(&node, add_call(std::move(made), std::move(call), node.name));
  }

 private:
  // With what it takes over from the named window that it extends.
  ResolvedWindow resolve(const ast::WindowDefinition& window) const {
    ResolvedWindow own{&window.partition_by, &window.order_by, window.frame ? &*window.frame : nullptr};
    if (window.base.empty()) return own;
    auto found = windows_.named.find(window.base);
    if (found == windows_.named.end()) refuse_at(fmt::format("there is no window {}", window.base), window.position);
    ResolvedWindow base = resolve(*found->second);
    if (window.is_reference) return base;
    if (!own.partition_by->empty()) refuse_at(fmt::format("PARTITION BY cannot be changed: window {} determines it", window.base), window.position);
    if (!own.order_by->empty() && !base.order_by->empty())
      refuse_at(fmt::format("ORDER BY cannot be changed: window {} determines it", window.base), window.position);
    if (base.frame != nullptr)
      refuse_at(fmt::format("window {} has a frame, so it cannot be extended; without brackets, OVER {} uses it as it is", window.base, window.base),
                window.position);
    return {base.partition_by, own.order_by->empty() ? base.order_by : own.order_by, own.frame};
  }

  ExpressionPtr bind_own(const ast::Expression& expression) {
    ExpressionPtr bound = binder_.bind_expression(expression, place_);
    return place_.regroup ? place_.regroup(std::move(bound)) : bound;
  }

  ExpressionPtr bind_typed(const ast::Expression& expression) {
    ExpressionPtr bound = bind_own(expression);
    return bound->is_untyped() ? coerce(std::move(bound), TypeKind::Varchar) : bound;
  }

  void add_partition(const ast::Expression& item, std::vector<ColumnId>& partition) {
    ExpressionPtr bound = bind_typed(item);
    if (bound->is_constant()) return;
    const ColumnId id = partition_column(std::move(bound));
    if (std::find(partition.begin(), partition.end(), id) == partition.end()) partition.push_back(id);
  }

  ColumnId partition_column(ExpressionPtr expression) {
    PlanColumns given(*place_.input);
    if (expression->kind() == ExpressionKind::Column && given.columns().contains(expression->column_id())) return expression->column_id();
    auto known = windows_.by_expression.find(expression.get());
    if (known != windows_.by_expression.end()) return known->second;
    const ColumnId id = binder_.columns_.add("partition", expression->type());
    windows_.by_expression.emplace(expression.get(), id);
    windows_.computed.push_back({id, std::move(expression)});
    return id;
  }

  ExpressionPtr bind_constant_offset(const ast::Expression& offset) {
    ExpressionPlace place{.scope = place_.scope, .no_subquery = "in the offset of a frame", .no_aggregate = "in the offset of a frame"};
    ExpressionPtr bound = binder_.bind_expression(offset, place);
    if (!columns_of(*bound).empty() || !is_stable(*bound)) refuse_at("the offset of a frame must be a constant", offset.position);
    return bound;
  }

  WindowCall bind_function(const ast::Call& node, int64_t position) {
    const WindowFunction* function = find_window_function(node.name);
    if (function == nullptr && find_aggregate(node.name) == nullptr)
      refuse_at(fmt::format("{} is neither a window function nor an aggregate: it takes no OVER", node.name), position);
    const bool may_ignore = function != nullptr && function->may_ignore_nulls;
    if (node.ignore_nulls && !may_ignore) refuse_at(fmt::format("{} does not take IGNORE NULLS", node.name), position);
    if (function == nullptr) return bind_aggregate(node, position);
    if (node.star || node.distinct || node.filter || !node.order_by.empty())
      refuse_at(fmt::format("{} is not an aggregate: it takes no *, DISTINCT, FILTER or ORDER BY", node.name), position);
    const size_t count = node.arguments.size();
    if (count < function->least_arguments || count > function->most_arguments)
      refuse_at(fmt::format("{} does not take {} arguments: {}", node.name, count, function->signature), position);
    WindowCall call;
    call.kind = function->kind;
    call.ignore_nulls = node.ignore_nulls;
    for (const ast::ExpressionPtr& argument : node.arguments) call.arguments.push_back(bind_own(*argument));
    type_arguments(call, node, position);
    return call;
  }

  WindowCall bind_aggregate(const ast::Call& node, int64_t position) {
    AggregateCall bound = binder_.bind_aggregate_call(node, position, place_);
    if (bound.function->kind == AggregateKind::Ordered) refuse_at(fmt::format("{} with OVER is not supported", node.name), position);
    const bool counts_values = bound.function->kind == AggregateKind::Count;
    if (bound.distinct && !counts_values) refuse_at(fmt::format("DISTINCT in {} with OVER is not supported, except in count", node.name), position);
    WindowCall call;
    call.kind = WindowKind::Aggregate;
    call.aggregate = bound.function;
    if (bound.argument) call.arguments.push_back(std::move(bound.argument));
    call.filter = std::move(bound.filter);
    call.distinct = bound.distinct;
    call.type = bound.type;
    return call;
  }

  void type_arguments(WindowCall& call, const ast::Call& node, int64_t position) {
    auto whole_number = [&](size_t place) {
      ExpressionPtr& argument = call.arguments[place];
      if (!argument->is_untyped() && !is_integer(argument->type()))
        refuse_at(fmt::format("argument {} of {} must be a whole number, not {}", place + 1, node.name, argument->type().to_string()), position);
      argument = coerce(std::move(argument), TypeKind::BigInt);
    };
    switch (call.kind) {
      case WindowKind::PercentRank:
      case WindowKind::CumeDist: call.type = TypeKind::Double; return;
      case WindowKind::Ntile:
        whole_number(0);
        call.type = TypeKind::Integer;
        return;
      case WindowKind::Lag:
      case WindowKind::Lead:
        if (call.arguments.size() > 1) whole_number(1);
        if (call.arguments.size() > 2) {
          const LogicalType type = common_type_of({call.arguments[0], call.arguments[2]}, node.name, position);
          call.arguments[0] = coerce(std::move(call.arguments[0]), type);
          call.arguments[2] = coerce(std::move(call.arguments[2]), type);
        }
        break;
      case WindowKind::NthValue: whole_number(1); break;
      case WindowKind::FirstValue:
      case WindowKind::LastValue: break;
      default: return;  // BIGINT
    }
    if (call.arguments[0]->is_untyped()) call.arguments[0] = coerce(std::move(call.arguments[0]), TypeKind::Varchar);
    call.type = call.arguments[0]->type();
  }

  // Adds the call to a node with its partitions and a compatible order; equal calls are computed once.
  ColumnId add_call(LogicalWindow made, WindowCall call, const std::string& name) {
    auto same_partition = [&](const LogicalWindow& node) {
      return ColumnSet(node.partition.begin(), node.partition.end()) == ColumnSet(made.partition.begin(), made.partition.end());
    };
    auto found = std::find_if(windows_.nodes.begin(), windows_.nodes.end(), [&](const LogicalWindow& node) {
      return same_partition(node) && (is_prefix(node.order, made.order) || is_prefix(made.order, node.order));
    });
    if (found == windows_.nodes.end()) {
      windows_.nodes.push_back(std::move(made));
      found = windows_.nodes.end() - 1;
    } else if (made.order.size() > found->order.size()) {
      found->order = std::move(made.order);
    }
    for (const WindowCall& other : found->calls) {
      if (same_call(other, call)) return other.id;
    }
    call.id = binder_.columns_.add(name, call.type);
    found->calls.push_back(std::move(call));
    return found->calls.back().id;
  }

  QueryBinder& binder_;
  const ExpressionPlace& place_;
  Windows& windows_;
};

void QueryBinder::collect_windows(const ast::Expression& expression, const ExpressionPlace& place, Windows& windows) {
  const auto* call = std::get_if<ast::Call>(&expression.node);
  if (call != nullptr && call->over != nullptr) return WindowBinding(*this, place, windows).bind(*call, expression.position);
  for_each_child(expression, [&](const ast::Expression& child) { collect_windows(child, place, windows); });
}

// Nodes with fewer partition columns are below: rows that are together on a rank for them are together for those above, too. Without partition
// columns all rows meet on one rank, which comes last.
LogicalPtr QueryBinder::add_windows(LogicalPtr plan, Windows& windows) {
  if (!windows.computed.empty()) plan = make_node(LogicalProject{std::move(windows.computed), true}, std::move(plan));
  std::stable_sort(windows.nodes.begin(), windows.nodes.end(), [](const LogicalWindow& left, const LogicalWindow& right) {
    return left.partition.size() - 1 < right.partition.size() - 1;  // none is the most
  });
  for (LogicalWindow& node : windows.nodes) plan = make_node(std::move(node), std::move(plan));
  return plan;
}

}  // namespace pistachio
