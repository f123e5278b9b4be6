// Computes sum(c + k) with a constant k as sum(c) + k * count(c), so that sums of one column with many constants share one pass over it. Where the
// footers do not prove that c + k stays inside its type, the sum is left alone: it may have to raise an error.
#include <algorithm>
#include <unordered_map>

#include "expr/cast.h"
#include "expr/function.h"
#include "expr/function_table.h"
#include "expr/type_rules.h"
#include "optimizer/footer_facts.h"
#include "optimizer/number_range.h"
#include "optimizer/rules.h"

namespace pistachio {

namespace {

// Sums have 38 digits: those of the argument, and 19 of the number of rows, fit.
constexpr int kMaxDigits = 18;

struct ShiftedColumn {
  ExpressionPtr column;
  ExpressionPtr shift;  // a constant of the type of column + shift
  bool is_negative = false;
};

struct StoredColumn {
  const Table* table = nullptr;
  size_t source = 0;
};
using StoredColumns = std::unordered_map<int32_t, StoredColumn>;

// Columns keep their ids throughout a plan, and nodes only drop or repeat their values, or add NULLs.
void collect_stored_columns(const LogicalNode& node, StoredColumns& columns, const CancelToken& token) {
  stop_if_cancelled(token);
  if (const auto* scan = node.as<LogicalScan>()) {
    for (const ScanColumn& column : scan->columns) columns.emplace(column.id.value, StoredColumn{scan->table.get(), column.source});
  }
  for (const LogicalPtr& child : node.children) collect_stored_columns(*child, columns, token);
}

// The column below a cast that changes no value.
ExpressionPtr below_cast(const ExpressionPtr& expression) {
  if (expression->kind() != ExpressionKind::Cast) return expression;
  const ExpressionPtr& child = expression->children()[0];
  return is_exact_number(child->type()) && casts_implicitly(child->type(), expression->type()) ? child : expression;
}

std::optional<ShiftedColumn> as_shifted_column(const Expression& argument) {
  const LogicalType type = argument.type();
  const bool is_short = is_integer(type) || (type.kind() == TypeKind::Decimal && type.precision() <= kMaxDigits);
  if (!is_short || argument.kind() != ExpressionKind::Call || argument.children().size() != 2) return std::nullopt;
  const bool is_difference = argument.function().name == "-";
  if (!is_difference && argument.function().name != "+") return std::nullopt;
  for (size_t side : {0, 1}) {
    const ExpressionPtr& shift = argument.children()[1 - side];
    if (is_difference && side == 1) break;
    const ExpressionPtr column = below_cast(argument.children()[side]);
    if (column->kind() != ExpressionKind::Column || !shift->is_constant() || shift->value().is_null || !(shift->type() == type)) continue;
    return ShiftedColumn{column, shift, is_difference};
  }
  return std::nullopt;
}

class SumSharing {
 public:
  SumSharing(LogicalPlan& plan, const CancelToken& token) : plan_(plan), token_(token) {}

  void visit(LogicalPtr& node) {
    auto* aggregate = node->as<LogicalAggregate>();
    if (aggregate == nullptr) return;
    auto shifted = [](const AggregateCall& call) {
      return call.function->kind == AggregateKind::Sum && !call.distinct ? as_shifted_column(*call.argument) : std::nullopt;
    };
    const std::vector<AggregateCall>& calls = aggregate->calls;
    if (std::none_of(calls.begin(), calls.end(), [&](const AggregateCall& call) { return shifted(call).has_value(); })) return;
    StoredColumns stored;
    collect_stored_columns(*node->children[0], stored, token_);
    LogicalProject project;
    for (ColumnId group : aggregate->groups) project.columns.push_back({group, plan_.columns.reference(group)});
    LogicalAggregate made{aggregate->groups, {}};
    bool has_shared = false;
    for (const AggregateCall& call : calls) {
      const std::optional<ShiftedColumn> parts = shifted(call);
      if (!parts || !stays_in_range(*parts, stored)) {
        project.columns.push_back({call.id, plan_.columns.reference(call.id)});
        made.calls.push_back(call);
        continue;
      }
      project.columns.push_back({call.id, sum_of(*parts, call, made)});
      has_shared = true;
    }
    if (!has_shared) return;
    LogicalPtr below = make_node(std::move(made), std::move(node->children[0]));
    node = make_node(std::move(project), std::move(below));
  }

 private:
  static bool stays_in_range(const ShiftedColumn& parts, const StoredColumns& stored) {
    const auto found = stored.find(parts.column->column_id().value);
    if (found == stored.end()) return false;
    const std::optional<FooterBounds> bounds = exact_bounds(*found->second.table, found->second.source);
    if (!bounds) return false;
    if (!bounds->least) return true;
    const Int128 unit = power_of_ten(scale_of_number(parts.shift->type()) - scale_of_number(parts.column->type()));
    const Int128 shift = parts.is_negative ? -parts.shift->value().integer : parts.shift->value().integer;
    const auto [least, greatest] = range_of_type(parts.shift->type());
    return bounds->least->integer * unit + shift >= least && bounds->greatest->integer * unit + shift <= greatest;
  }

  // The call with this function and argument, added unless it is there.
  ColumnId shared_call(std::string_view function, LogicalType type, const ExpressionPtr& argument, const AggregateCall& like,
                       LogicalAggregate& made) {
    const AggregateFunction* wanted = find_aggregate(function);
    for (const AggregateCall& call : made.calls) {
      const bool has_filter = call.filter != nullptr && like.filter != nullptr && same_expression(*call.filter, *like.filter);
      if (call.function == wanted && call.type == type && !call.distinct && (has_filter || (!call.filter && !like.filter)) &&
          same_expression(*call.argument, *argument))
        return call.id;
    }
    const ColumnId id = plan_.columns.add(std::string(function), type);
    const AggregateCall& added =
        made.calls.emplace_back(AggregateCall{.id = id, .function = wanted, .argument = argument, .filter = like.filter, .type = type});
    return added.id;
  }

  // sum(c) + k * count(c), in the type of the call; NULL without values, as sum(c) is.
  ExpressionPtr sum_of(const ShiftedColumn& parts, const AggregateCall& call, LogicalAggregate& made) {
    const LogicalType sum_type = LogicalType::decimal(38, scale_of_number(parts.column->type()));
    const ColumnId sum = shared_call("sum", sum_type, parts.column, call, made);
    const ColumnId count = shared_call("count", TypeKind::BigInt, parts.column, call, made);
    const int64_t position = call.argument->position();
    ExpressionPtr rows = Expression::cast(plan_.columns.reference(count), LogicalType::decimal(19, 0), position);
    ExpressionPtr shifts = make_call("*", {std::move(rows), decimal_of(*parts.shift)}, position);
    ExpressionPtr total = make_call(parts.is_negative ? "-" : "+", {plan_.columns.reference(sum), std::move(shifts)}, position);
    return Expression::cast(std::move(total), call.type, position);
  }

  // An integer as the decimal of its digits.
  static ExpressionPtr decimal_of(const Expression& constant) {
    return Expression::constant(ScalarValue::of_integer(narrow_constant_type(constant), constant.value().integer), constant.position());
  }

  LogicalPlan& plan_;
  const CancelToken& token_;
};

}  // namespace

void share_shifted_sums(LogicalPlan& plan, const CancelToken& token) {
  SumSharing sharing(plan, token);
  for_each_root(plan, [&](LogicalPtr& root) { for_each_node(root, token, [&](LogicalPtr& node) { sharing.visit(node); }); });
}

}  // namespace pistachio
