// Lowers aggregates that look at several values at a time (OrderedAggregate) to windows below the aggregate and plain aggregates:
//   - first, last, arg_min, mode: the row that comes first in an order, by row_number;
//   - quantiles: the one or two rows at the fraction's place, by row_number and count;
//   - string_agg: a window concatenates the texts of each partition;
//   - covariances and moments: sums over the deviations from the group's mean, which are stable where sums of squares cancel out;
//     covariances of short integers: sums of products, which are exact and need no window.
// The windows have the groups as partitions, so that sorting, spilling and distributing over ranks are those of windows.
#include <algorithm>
#include <utility>

#include "expr/function_table.h"
#include "expr/type_rules.h"
#include "optimizer/rules.h"

namespace pistachio {

namespace {

using Ordered = OrderedAggregate;

bool is_ordered(const AggregateCall& call) {
  return call.function->kind == AggregateKind::Ordered;
}

ExpressionPtr whole(int64_t value) {
  return Expression::constant(ScalarValue::of_integer(TypeKind::BigInt, value));
}

ExpressionPtr real(double value) {
  return Expression::constant(ScalarValue::of_floating(TypeKind::Double, value));
}

ExpressionPtr calculate(std::string_view name, ExpressionPtr left, ExpressionPtr right) {
  return make_call(name, {std::move(left), std::move(right)});
}

ExpressionPtr all_of(std::vector<ExpressionPtr> conditions) {
  std::erase(conditions, nullptr);
  if (conditions.size() <= 1) return conditions.empty() ? nullptr : conditions[0];
  return Expression::logical(ExpressionKind::And, std::move(conditions));
}

// `value` where the condition is true, else NULL; the value itself without a condition.
ExpressionPtr only_if(ExpressionPtr condition, ExpressionPtr value) {
  if (!condition) return value;
  const LogicalType type = value->type();
  ExpressionPtr nothing = Expression::constant(ScalarValue::null(type));
  return Expression::conditional(ExpressionKind::Case, {std::move(condition), std::move(value), std::move(nothing)}, type);
}

bool same_or_both_null(const ExpressionPtr& left, const ExpressionPtr& right) {
  return left && right ? same_expression(*left, *right) : !left && !right;
}

bool is_same(const AggregateCall& left, const AggregateCall& right) {
  return left.function == right.function && left.distinct == right.distinct && same_or_both_null(left.argument, right.argument) &&
         same_or_both_null(left.filter, right.filter);
}

bool same_keys(const std::vector<SortKey>& left, const std::vector<SortKey>& right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), [](const SortKey& one, const SortKey& other) {
    return one.descending == other.descending && one.nulls_first == other.nulls_first &&
           same_expression(*one.expression, *other.expression);
  });
}

class OrderedAggregates {
 public:
  OrderedAggregates(LogicalPlan& plan, LogicalPtr& node) : plan_(plan), node_(node), input_(output_set(*node->children[0])) {}

  void lower() {
    LogicalAggregate whole = std::move(*node_->as<LogicalAggregate>());
    groups_ = whole.groups;
    made_.groups = whole.groups;
    for (ColumnId group : groups_) results_.columns.push_back({group, reference(group)});
    for (AggregateCall& call : whole.calls) {
      const ColumnId id = call.id;
      if (is_ordered(call)) {
        results_.columns.push_back({id, lower_call(call)});
      } else {
        results_.columns.push_back({id, reference(id)});
        made_.calls.push_back(std::move(call));
      }
    }
    LogicalPtr plan = std::move(node_->children[0]);
    plan = add_columns(std::move(plan), std::move(first_columns_));
    for (LogicalWindow& window : first_windows_) plan = make_node(std::move(window), std::move(plan));
    plan = add_columns(std::move(plan), std::move(second_columns_));
    for (LogicalWindow& window : second_windows_) plan = make_node(std::move(window), std::move(plan));
    plan = make_node(std::move(made_), std::move(plan));
    node_ = make_node(std::move(results_), std::move(plan));
  }

 private:
  ExpressionPtr reference(ColumnId id) const { return plan_.columns.reference(id); }

  static LogicalPtr add_columns(LogicalPtr plan, std::vector<NamedExpression> columns) {
    if (columns.empty()) return plan;
    return make_node(LogicalProject{std::move(columns), true}, std::move(plan));
  }

  // A column with the expression's value, below the windows of its stage.
  ExpressionPtr compute(std::vector<NamedExpression>& stage, ExpressionPtr expression) {
    if (expression->kind() == ExpressionKind::Column && input_.contains(expression->column_id())) return expression;
    for (const NamedExpression& known : stage) {
      if (same_expression(*known.expression, *expression) && !expression->can_raise()) return reference(known.id);
    }
    const ColumnId id = plan_.columns.add("value", expression->type());
    stage.push_back({id, std::move(expression)});
    return reference(id);
  }

  // The result of a call over the rows of each partition; calls with the same partition and order share a node.
  ExpressionPtr add_window(std::vector<LogicalWindow>& stage, std::vector<ColumnId> partition, std::vector<SortKey> order,
                           WindowCall call) {
    call.order_keys = order.size();
    auto fits = [&](const LogicalWindow& node) { return node.partition == partition && (order.empty() || same_keys(node.order, order)); };
    auto found = std::find_if(stage.begin(), stage.end(), fits);
    if (found == stage.end())
      found = stage.insert(stage.end(), LogicalWindow{.partition = std::move(partition), .order = std::move(order), .calls = {}});
    for (const WindowCall& known : found->calls) {
      if (known.kind == WindowKind::RowNumber && call.kind == WindowKind::RowNumber && known.order_keys == call.order_keys)
        return reference(known.id);
    }
    call.id = plan_.columns.add("window", call.type);
    found->calls.push_back(std::move(call));
    return reference(found->calls.back().id);
  }

  ExpressionPtr number_rows(std::vector<LogicalWindow>& stage, std::vector<ColumnId> partition, std::vector<SortKey> order) {
    WindowCall call;
    call.kind = WindowKind::RowNumber;
    return add_window(stage, std::move(partition), std::move(order), std::move(call));
  }

  // Of all rows of the partition.
  ExpressionPtr aggregate_partition(std::vector<LogicalWindow>& stage, std::vector<ColumnId> partition, std::string_view name,
                                    ExpressionPtr argument) {
    WindowCall call;
    call.kind = WindowKind::Aggregate;
    call.aggregate = find_aggregate(name);
    call.type = call.aggregate->resolve(argument->type())->second;
    call.arguments.push_back(std::move(argument));
    return add_window(stage, std::move(partition), {}, std::move(call));
  }

  ExpressionPtr aggregate(std::string_view name, ExpressionPtr argument, ExpressionPtr filter = nullptr) {
    AggregateCall call;
    call.function = find_aggregate(name);
    const auto types = call.function->resolve(argument->type());
    call.argument = coerce(std::move(argument), types->first);
    call.filter = std::move(filter);
    call.type = types->second;
    for (const AggregateCall& known : made_.calls) {
      if (is_same(known, call)) return reference(known.id);
    }
    call.id = plan_.columns.add(std::string(name), call.type);
    made_.calls.push_back(call);
    return reference(call.id);
  }

  std::vector<ColumnId> groups_and(const ExpressionPtr& column) const {
    std::vector<ColumnId> partition = groups_;
    partition.push_back(column->column_id());
    return partition;
  }

  // The argument as a column, NULL where the filter is not true, and for DISTINCT in all rows but one of each value.
  ExpressionPtr counted_value(const AggregateCall& call) {
    ExpressionPtr value = compute(first_columns_, only_if(call.filter, call.argument));
    if (!call.distinct) return value;
    ExpressionPtr number = number_rows(first_windows_, groups_and(value), {});
    return compute(second_columns_, only_if(calculate("=", number, whole(1)), value));
  }

  ExpressionPtr lower_call(const AggregateCall& call) {
    switch (call.function->ordered) {
      case Ordered::First:
      case Ordered::Last:
      case Ordered::FirstValue:
      case Ordered::ArgMin:
      case Ordered::ArgMax:
      case Ordered::ArgMinNull:
      case Ordered::ArgMaxNull: return first_row(call);
      case Ordered::QuantileContinuous: return continuous_quantile(call);
      case Ordered::QuantileDiscrete: return discrete_quantile(call);
      case Ordered::Mode: return mode(call);
      case Ordered::Concatenate: return concatenation(call);
      case Ordered::GeometricMean: return make_call("exp", {aggregate("avg", make_call("ln", {counted_value(call)}))});
      case Ordered::Skewness:
      case Ordered::Kurtosis:
      case Ordered::KurtosisPopulation: return higher_moment(call);
      default: return of_pairs(call);
    }
  }

  // An argument or order key, not computed in rows that the filter drops if it can raise an error there.
  static ExpressionPtr guarded(const AggregateCall& call, const ExpressionPtr& expression) {
    return expression->can_raise() ? only_if(call.filter, expression) : expression;
  }

  // The value in the row that is first among those that count.
  ExpressionPtr first_row(const AggregateCall& call) {
    const Ordered kind = call.function->ordered;
    const ExpressionPtr argument = guarded(call, call.argument);
    std::vector<ExpressionPtr> conditions = {call.filter};
    std::vector<SortKey> keys;
    const bool skips_nulls = kind == Ordered::FirstValue || kind == Ordered::ArgMin || kind == Ordered::ArgMax;
    if (skips_nulls) conditions.push_back(make_call("is not null", {argument}));
    if (!call.further.empty()) {
      const bool descending = kind == Ordered::ArgMax || kind == Ordered::ArgMaxNull;
      const ExpressionPtr key = guarded(call, call.further[0]);
      conditions.push_back(make_call("is not null", {key}));
      keys.push_back({key, descending, false});
    }
    for (const AggregateOrder& key : call.order) {
      const bool reverses = kind == Ordered::Last;
      keys.push_back({guarded(call, key.expression), key.descending != reverses, key.nulls_first != reverses});
    }
    ExpressionPtr counts = all_of(std::move(conditions));
    if (counts) {
      counts = compute(first_columns_, std::move(counts));
      keys.insert(keys.begin(), SortKey{counts, true, false});
    }
    ExpressionPtr value = compute(first_columns_, argument);
    ExpressionPtr is_first = calculate("=", number_rows(second_windows_, groups_, std::move(keys)), whole(1));
    return aggregate("any_value", std::move(value), all_of({std::move(is_first), std::move(counts)}));
  }

  struct SortedValues {
    ExpressionPtr value;
    ExpressionPtr number;  // of the row among those with a value, from 1
    ExpressionPtr count;   // of values in the group
  };

  SortedValues sort_values(const AggregateCall& call) {
    SortedValues sorted{counted_value(call), nullptr, nullptr};
    const bool descending = !call.order.empty() && call.order[0].descending;
    sorted.number = number_rows(second_windows_, groups_, {{sorted.value, descending, false}});
    sorted.count = aggregate_partition(second_windows_, groups_, "count", sorted.value);
    return sorted;
  }

  ExpressionPtr value_at(const SortedValues& sorted, ExpressionPtr number) {
    return aggregate("any_value", sorted.value, calculate("=", sorted.number, std::move(number)));
  }

  ExpressionPtr continuous_quantile(const AggregateCall& call) {
    const SortedValues sorted = sort_values(call);
    const ExpressionPtr last = coerce(calculate("-", sorted.count, whole(1)), TypeKind::Double);
    const ExpressionPtr place = calculate("*", last, call.further[0]);
    const ExpressionPtr before = make_call("floor", {place});
    auto number_of = [](const ExpressionPtr& from_zero) { return calculate("+", coerce(from_zero, TypeKind::BigInt), whole(1)); };
    const ExpressionPtr low = coerce(value_at(sorted, number_of(before)), call.type);
    const ExpressionPtr high = coerce(value_at(sorted, number_of(make_call("ceil", {place}))), call.type);
    const ExpressionPtr fraction = aggregate("any_value", calculate("-", place, before));
    // The difference of equal infinities is not a number.
    const ExpressionPtr between = calculate("+", low, calculate("*", calculate("-", high, low), fraction));
    return Expression::conditional(ExpressionKind::Case, {calculate("=", low, high), low, coerce(between, call.type)}, call.type);
  }

  ExpressionPtr discrete_quantile(const AggregateCall& call) {
    const SortedValues sorted = sort_values(call);
    const ExpressionPtr place = make_call("ceil", {calculate("*", coerce(sorted.count, TypeKind::Double), call.further[0])});
    return value_at(sorted, make_call("greatest", {coerce(place, TypeKind::BigInt), whole(1)}));
  }

  ExpressionPtr mode(const AggregateCall& call) {
    const ExpressionPtr value = counted_value(call);
    std::vector<LogicalWindow>& windows = call.distinct ? second_windows_ : first_windows_;
    const ExpressionPtr count = aggregate_partition(windows, groups_and(value), "count", value);
    const ExpressionPtr number = number_rows(second_windows_, groups_, {{count, true, false}, {value, false, false}});
    return aggregate("any_value", value, calculate("=", number, whole(1)));
  }

  ExpressionPtr concatenation(const AggregateCall& call) {
    const ExpressionPtr value = counted_value(call);
    std::vector<SortKey> keys;
    for (const AggregateOrder& key : call.order) keys.push_back({guarded(call, key.expression), key.descending, key.nulls_first});
    WindowCall window;
    window.kind = WindowKind::Concatenate;
    window.arguments = {value, guarded(call, call.further[0])};
    window.type = TypeKind::Varchar;
    return aggregate("any_value", add_window(second_windows_, groups_, std::move(keys), std::move(window)));
  }

  ExpressionPtr deviation(const ExpressionPtr& value) {
    return calculate("-", value, aggregate_partition(first_windows_, groups_, "avg", value));
  }

  ExpressionPtr higher_moment(const AggregateCall& call) {
    // DISTINCT takes the first stage of windows, the mean would need another one.
    const ExpressionPtr value = compute(first_columns_, only_if(call.filter, call.argument));
    const ExpressionPtr from_mean = compute(second_columns_, deviation(value));
    const ExpressionPtr square = calculate("*", from_mean, from_mean);
    const ExpressionPtr n = coerce(aggregate("count", from_mean), TypeKind::Double);
    const ExpressionPtr second = aggregate("sum", square);
    auto at_least = [&](double least, ExpressionPtr result) {
      ExpressionPtr enough = all_of({calculate(">=", n, real(least)), calculate(">", second, real(0))});
      return only_if(std::move(enough), std::move(result));
    };
    auto minus = [&](double less) { return calculate("-", n, real(less)); };
    if (call.function->ordered == Ordered::Skewness) {
      const ExpressionPtr third = aggregate("sum", calculate("*", square, from_mean));
      const ExpressionPtr shape = calculate("/", calculate("/", third, n), make_call("power", {calculate("/", second, n), real(1.5)}));
      const ExpressionPtr correction = calculate("/", make_call("sqrt", {calculate("*", n, minus(1))}), minus(2));
      return at_least(3, calculate("*", correction, shape));
    }
    const ExpressionPtr fourth = aggregate("sum", calculate("*", square, square));
    const ExpressionPtr shape = calculate("/", calculate("*", n, fourth), calculate("*", second, second));
    if (call.function->ordered == Ordered::KurtosisPopulation) return at_least(2, calculate("-", shape, real(3)));
    const ExpressionPtr inner = calculate("-", calculate("*", calculate("+", n, real(1)), shape), calculate("*", real(3), minus(1)));
    return at_least(4, calculate("/", calculate("*", minus(1), inner), calculate("*", minus(2), minus(3))));
  }

  // The TINYINT, SMALLINT or INTEGER whose value the argument has, as BIGINT. Null: it has another type.
  static ExpressionPtr short_integer(const ExpressionPtr& argument) {
    const bool is_cast = argument->kind() == ExpressionKind::Cast && argument->type().kind() == TypeKind::Double;
    const ExpressionPtr& value = is_cast ? argument->children()[0] : argument;
    const TypeKind kind = value->type().kind();
    return kind == TypeKind::TinyInt || kind == TypeKind::SmallInt || kind == TypeKind::Integer ? coerce(value, TypeKind::BigInt) : nullptr;
  }

  // The sum of the products of the deviations of BIGINTs that were short integers: (n * sum(xy) - sum(x) * sum(y)) / n. With 38 digits the
  // difference is exact for groups of up to four billion rows, whatever their values.
  ExpressionPtr exact_products(const ExpressionPtr& left, const ExpressionPtr& right, const ExpressionPtr& count) {
    const ExpressionPtr products = calculate("*", count, aggregate("sum", calculate("*", left, right)));
    const ExpressionPtr difference = calculate("-", products, calculate("*", aggregate("sum", left), aggregate("sum", right)));
    const ExpressionPtr quotient = calculate("/", coerce(difference, TypeKind::Double), coerce(count, TypeKind::Double));
    return only_if(calculate(">", count, whole(0)), quotient);
  }

  // y and x, where neither is NULL.
  ExpressionPtr of_pairs(const AggregateCall& call) {
    const Ordered kind = call.function->ordered;
    const ExpressionPtr counts =
        all_of({call.filter, make_call("is not null", {call.argument}), make_call("is not null", {call.further[0]})});
    const ExpressionPtr short_y = short_integer(call.argument);
    const ExpressionPtr short_x = short_integer(call.further[0]);
    const bool is_exact = short_y && short_x;
    const ExpressionPtr y = compute(first_columns_, only_if(counts, is_exact ? short_y : call.argument));
    const ExpressionPtr x = compute(first_columns_, only_if(counts, is_exact ? short_x : call.further[0]));
    const ExpressionPtr count = aggregate("count", x);
    if (kind == Ordered::RegressionCount) return count;
    if (kind == Ordered::RegressionAverageX) return aggregate("avg", x);
    if (kind == Ordered::RegressionAverageY) return aggregate("avg", y);
    const ExpressionPtr n = coerce(count, TypeKind::Double);
    const ExpressionPtr y_deviation = is_exact ? y : compute(second_columns_, deviation(y));
    const ExpressionPtr x_deviation = is_exact ? x : compute(second_columns_, deviation(x));
    auto sum_of = [&](const ExpressionPtr& left, const ExpressionPtr& right) {
      return is_exact ? exact_products(left, right, count) : aggregate("sum", calculate("*", left, right));
    };
    if (kind == Ordered::RegressionSxx) return sum_of(x_deviation, x_deviation);
    if (kind == Ordered::RegressionSyy) return sum_of(y_deviation, y_deviation);
    const ExpressionPtr products = sum_of(y_deviation, x_deviation);
    if (kind == Ordered::RegressionSxy) return products;
    if (kind == Ordered::CovariancePopulation) return only_if(calculate(">", count, whole(0)), calculate("/", products, n));
    if (kind == Ordered::CovarianceSample)
      return only_if(calculate(">", count, whole(1)), calculate("/", products, calculate("-", n, real(1))));
    const ExpressionPtr x_squares = sum_of(x_deviation, x_deviation);
    const ExpressionPtr x_varies = calculate(">", x_squares, real(0));
    if (kind == Ordered::RegressionSlope || kind == Ordered::RegressionIntercept) {
      const ExpressionPtr slope = only_if(x_varies, calculate("/", products, x_squares));
      if (kind == Ordered::RegressionSlope) return slope;
      return calculate("-", aggregate("avg", y), calculate("*", slope, aggregate("avg", x)));
    }
    const ExpressionPtr y_squares = sum_of(y_deviation, y_deviation);
    const ExpressionPtr y_varies = calculate(">", y_squares, real(0));
    const ExpressionPtr roots = calculate("*", make_call("sqrt", {x_squares}), make_call("sqrt", {y_squares}));
    const ExpressionPtr correlation = only_if(all_of({x_varies, y_varies}), calculate("/", products, roots));
    if (kind == Ordered::Correlation) return correlation;
    // All of no variance is explained.
    const ExpressionPtr share =
        Expression::conditional(ExpressionKind::Case, {y_varies, calculate("*", correlation, correlation), real(1)}, TypeKind::Double);
    return only_if(x_varies, share);
  }

  LogicalPlan& plan_;
  LogicalPtr& node_;
  const ColumnSet input_;
  std::vector<ColumnId> groups_;
  // From the input upwards.
  std::vector<NamedExpression> first_columns_;
  std::vector<LogicalWindow> first_windows_;
  std::vector<NamedExpression> second_columns_;
  std::vector<LogicalWindow> second_windows_;
  LogicalAggregate made_;
  LogicalProject results_;
};

}  // namespace

void lower_ordered_aggregates(LogicalPlan& plan, const CancelToken& token) {
  for_each_root(plan, [&](LogicalPtr& root) {
    for_each_node(root, token, [&](LogicalPtr& node) {
      const auto* aggregate = node->as<LogicalAggregate>();
      if (aggregate != nullptr && std::any_of(aggregate->calls.begin(), aggregate->calls.end(), is_ordered))
        OrderedAggregates(plan, node).lower();
    });
  });
}

}  // namespace pistachio
