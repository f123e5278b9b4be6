// Lowers GROUPING SETS to one plain grouping per set, concatenated by UNION ALL. All read one shared plan, so that the input is computed
// once and retained within memory_limit. If partial results of all aggregates can be combined, as those of sum and count, the shared plan
// is already grouped by all columns that a set uses: ROLLUP and CUBE then retain groups instead of rows. The mean of numbers that are not
// decimals is a sum and a count there (of decimals, the quotient would be rounded differently).
// An input that refers to an outer query cannot be shared; it is computed again for each set.
#include <algorithm>
#include <map>
#include <utility>

#include "expr/aggregate_function.h"
#include "expr/function_table.h"
#include "optimizer/rules.h"

namespace pistachio {

namespace {

bool is_split_average(const AggregateCall& call) {
  return call.function->kind == AggregateKind::Average && !call.distinct && call.argument->type().kind() != TypeKind::Decimal;
}

// The aggregate that combines partial results of `function`; null if there is none.
const AggregateFunction* combining_aggregate(const AggregateFunction& function) {
  switch (function.kind) {
    case AggregateKind::CountRows:
    case AggregateKind::Count: return find_aggregate("sum");
    case AggregateKind::Sum:
    case AggregateKind::Min:
    case AggregateKind::Max:
    case AggregateKind::BoolAnd:
    case AggregateKind::BoolOr:
    case AggregateKind::AnyValue:
    case AggregateKind::BitAnd:
    case AggregateKind::BitOr:
    case AggregateKind::BitXor: return &function;
    default: return nullptr;
  }
}

// A result of the aggregate that is lowered.
struct Output {
  ColumnId id;
  LogicalType type;
  size_t call = 0;  // computes it; of an average: the sum, and the next one the count
  bool is_count = false;
  bool is_average = false;
};

class GroupingSets {
 public:
  explicit GroupingSets(LogicalPlan& plan) : plan_(plan) {}

  void lower(LogicalPtr& node) {
    auto* aggregate = node->as<LogicalAggregate>();
    if (aggregate == nullptr || aggregate->sets.empty()) return;
    const bool is_shared = aggregate->sets.size() > 1 && free_columns(*node).empty();
    LogicalAggregate whole = std::move(*aggregate);
    LogicalPtr input = std::move(node->children[0]);
    outputs_.clear();
    for (size_t i = 0; i < whole.calls.size(); ++i) outputs_.push_back({whole.calls[i].id, whole.calls[i].type, i});
    if (is_shared && can_combine(whole)) input = group_first(whole, std::move(input));
    std::vector<LogicalPtr> groupings;
    if (is_shared) {
      LogicalSharedRead read{.shared = plan_.shared.size()};
      read.sources = output_columns(*input);
      plan_.shared.push_back(std::move(input));
      for (size_t i = 0; i < whole.sets.size(); ++i) groupings.push_back(group_shared(whole, i, read));
    } else {
      for (size_t i = 0; i < whole.sets.size(); ++i) groupings.push_back(group_by_set(whole, i, clone(*input), {}));
    }
    node = concatenate(std::move(groupings), output_of(whole));
  }

 private:
  ExpressionPtr reference(ColumnId id) const { return plan_.columns.reference(id); }
  ColumnId copy_column(ColumnId id) { return plan_.columns.add(plan_.columns.name(id), plan_.columns.type(id)); }

  std::vector<ColumnId> output_of(const LogicalAggregate& whole) const {
    std::vector<ColumnId> columns = whole.groups;
    for (const Output& output : outputs_) columns.push_back(output.id);
    columns.push_back(whole.set_number);
    return columns;
  }

  static bool can_combine(const LogicalAggregate& whole) {
    return std::all_of(whole.calls.begin(), whole.calls.end(), [](const AggregateCall& call) {
      return is_split_average(call) ||
             (combining_aggregate(*call.function) != nullptr && (!call.distinct || ignores_duplicates(*call.function)));
    });
  }

  // Groups by all columns of the sets, and replaces the calls of `whole` by those that combine the partial results.
  LogicalPtr group_first(LogicalAggregate& whole, LogicalPtr input) {
    ColumnSet used;
    for (const std::vector<ColumnId>& set : whole.sets) used.insert(ColumnSet(set.begin(), set.end()));
    LogicalAggregate partial{.groups = {used.begin(), used.end()}, .calls = {}};
    std::vector<AggregateCall> combining;
    for (size_t i = 0; i < whole.calls.size(); ++i) {
      const AggregateCall& call = whole.calls[i];
      Output& output = outputs_[i];
      output.call = combining.size();
      output.is_average = is_split_average(call);
      output.is_count = is_count(*call.function);
      if (!output.is_average) {
        add_partial(call, partial, combining);
        continue;
      }
      AggregateCall part = call;
      part.function = find_aggregate("sum");
      // Wide enough for the sum of any integers.
      part.type = call.argument->type().is_floating() ? LogicalType(TypeKind::Double) : LogicalType::decimal(38, 0);
      add_partial(part, partial, combining);
      part.function = find_aggregate("count");
      part.type = TypeKind::BigInt;
      add_partial(part, partial, combining);
    }
    whole.calls = std::move(combining);
    return make_node(std::move(partial), std::move(input));
  }

  // Adds a call to the partial grouping, and the one that combines its results.
  void add_partial(AggregateCall call, LogicalAggregate& partial, std::vector<AggregateCall>& combining) {
    AggregateCall combined = call;
    call.id = plan_.columns.add(plan_.columns.name(call.id), call.type);
    ExpressionPtr value = reference(call.id);
    combined.function = combining_aggregate(*call.function);
    const auto types = combined.function->resolve(value->type());
    combined.argument = coerce(std::move(value), types->first);
    combined.type = types->second;
    combined.filter = nullptr;
    combined.distinct = false;
    combining.push_back(std::move(combined));
    partial.calls.push_back(std::move(call));
  }

  LogicalPtr group_shared(const LogicalAggregate& whole, size_t number, LogicalSharedRead read) {
    std::map<ColumnId, ColumnId> own;
    for (ColumnId source : read.sources) {
      read.columns.push_back(copy_column(source));
      own.emplace(source, read.columns.back());
    }
    return group_by_set(whole, number, make_node(std::move(read)), own);
  }

  // Columns: the groups (NULL if the set does not contain them), the results, the number of the set.
  LogicalPtr group_by_set(const LogicalAggregate& whole, size_t number, LogicalPtr input, const std::map<ColumnId, ColumnId>& renamed) {
    auto own = [&](ColumnId id) {
      auto found = renamed.find(id);
      return found == renamed.end() ? id : found->second;
    };
    auto own_values = [&](const ExpressionPtr& expression) {
      return replace_columns(expression, [&](ColumnId id) { return own(id) == id ? nullptr : reference(own(id)); });
    };
    LogicalAggregate grouping;
    LogicalProject project;
    for (ColumnId group : whole.groups) {
      const bool is_in_set = std::binary_search(whole.sets[number].begin(), whole.sets[number].end(), group);
      if (is_in_set) grouping.groups.push_back(own(group));
      const ColumnId id = copy_column(group);
      project.columns.push_back(
          {id, is_in_set ? reference(own(group)) : Expression::constant(ScalarValue::null(plan_.columns.type(group)))});
    }
    for (AggregateCall call : whole.calls) {
      call.id = plan_.columns.add(plan_.columns.name(call.id), call.type);
      for_each_expression(call, [&](ExpressionPtr& expression) { expression = own_values(expression); });
      grouping.calls.push_back(std::move(call));
    }
    for (const Output& output : outputs_) project.columns.push_back({copy_column(output.id), result_of(output, grouping.calls)});
    const ColumnId id = copy_column(whole.set_number);
    project.columns.push_back({id, Expression::constant(ScalarValue::of_integer(TypeKind::Integer, static_cast<int64_t>(number)))});
    return make_node(std::move(project), make_node(std::move(grouping), std::move(input)));
  }

  // Combined results have the type of the call; a sum of counts of no groups is 0.
  ExpressionPtr result_of(const Output& output, const std::vector<AggregateCall>& calls) const {
    ExpressionPtr value = reference(calls[output.call].id);
    if (output.is_average) return mean_of(std::move(value), reference(calls[output.call + 1].id));
    value = coerce(std::move(value), output.type);
    if (!output.is_count) return value;
    ExpressionPtr zero = Expression::constant(ScalarValue::of_integer(TypeKind::BigInt, 0));
    return Expression::conditional(ExpressionKind::Coalesce, {std::move(value), std::move(zero)}, TypeKind::BigInt);
  }

  // NULL if there are no values.
  static ExpressionPtr mean_of(ExpressionPtr sum, const ExpressionPtr& count) {
    ExpressionPtr zero = Expression::constant(ScalarValue::of_integer(TypeKind::BigInt, 0));
    ExpressionPtr mean = make_call("/", {coerce(std::move(sum), TypeKind::Double), coerce(count, TypeKind::Double)});
    ExpressionPtr nothing = Expression::constant(ScalarValue::null(TypeKind::Double));
    return Expression::conditional(ExpressionKind::Case, {make_call(">", {count, std::move(zero)}), std::move(mean), std::move(nothing)},
                                   TypeKind::Double);
  }

  // A balanced tree of UNION ALL, whose last step outputs `columns`.
  LogicalPtr concatenate(std::vector<LogicalPtr> inputs, const std::vector<ColumnId>& columns) {
    if (inputs.size() == 1) {
      LogicalProject project;
      const std::vector<ColumnId> given = output_columns(*inputs[0]);
      for (size_t i = 0; i < columns.size(); ++i) project.columns.push_back({columns[i], reference(given[i])});
      return make_node(std::move(project), std::move(inputs[0]));
    }
    while (inputs.size() > 1) {
      std::vector<LogicalPtr> halved;
      for (size_t i = 0; i + 1 < inputs.size(); i += 2) {
        LogicalSetOperation both{.kind = LogicalSetOperation::Kind::Union, .all = true};
        both.left_columns = output_columns(*inputs[i]);
        both.right_columns = output_columns(*inputs[i + 1]);
        for (ColumnId column : columns) both.columns.push_back(inputs.size() == 2 ? column : copy_column(column));
        halved.push_back(make_node(std::move(both), std::move(inputs[i]), std::move(inputs[i + 1])));
      }
      if (inputs.size() % 2 == 1) halved.push_back(std::move(inputs.back()));
      inputs = std::move(halved);
    }
    return std::move(inputs[0]);
  }

  LogicalPlan& plan_;
  std::vector<Output> outputs_;  // of the aggregate that is lowered now
};

}  // namespace

void lower_grouping_sets(LogicalPlan& plan, const CancelToken& token) {
  GroupingSets sets(plan);
  auto lower_all = [&](LogicalPtr& root) { for_each_node(root, token, [&](LogicalPtr& node) { sets.lower(node); }); };
  lower_all(plan.root);
  // The list grows by inputs that are already lowered.
  for (size_t i = 0, count = plan.shared.size(); i < count; ++i) {
    if (!plan.shared[i]) continue;
    LogicalPtr shared = std::move(plan.shared[i]);
    lower_all(shared);
    plan.shared[i] = std::move(shared);
  }
}

}  // namespace pistachio
