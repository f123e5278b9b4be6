// UNION, INTERSECT and EXCEPT. A chain of one operator, a UNION b UNION c ..., becomes a balanced tree, so that walks over plans do not
// recurse as deep as the chain is long.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "binder/query_binder.h"
#include "expr/type_rules.h"

namespace pistachio {

namespace {

using SetKind = LogicalSetOperation::Kind;

SetKind kind_of(const ast::SetOperation& operation) {
  switch (operation.kind) {
    case ast::SetOperation::Kind::Union: return SetKind::Union;
    case ast::SetOperation::Kind::Intersect: return SetKind::Intersect;
    case ast::SetOperation::Kind::Except: return SetKind::Except;
  }
  return SetKind::Union;
}

std::string_view name_of(SetKind kind) {
  return kind == SetKind::Union ? "UNION" : kind == SetKind::Intersect ? "INTERSECT" : "EXCEPT";
}

bool is_bare(const ast::Query& query) {
  return query.with.empty() && query.order_by.empty() && !query.limit && !query.offset;
}

// The operands of a chain of one operator, from left to right. The tree is left-deep: descend in a loop.
std::vector<const ast::Query*> operands_of(const ast::SetOperation& operation) {
  std::vector<const ast::Query*> operands = {operation.right.get()};
  const ast::Query* left = operation.left.get();
  for (;;) {
    const auto* next = std::get_if<ast::SetOperation>(&left->body);
    if (next == nullptr || next->kind != operation.kind || next->all != operation.all || !is_bare(*left)) break;
    operands.push_back(next->right.get());
    left = next->left.get();
  }
  operands.push_back(left);
  std::reverse(operands.begin(), operands.end());
  return operands;
}

// The type of one output column as operands are added from the left, as if each operator were bound separately.
struct ColumnTypes {
  struct Change {
    size_t operand;  // joins with this type, as do those before it
    LogicalType type;
  };
  std::vector<Change> changes = {};
  LogicalType type = TypeKind::Varchar;
  bool is_open = false;  // only untyped literals so far
  bool is_null = false;  // only NULLs so far

  // An operand is cast to the type at its own step, then to that of each later step.
  ExpressionPtr coerce_operand(ExpressionPtr value, size_t operand) const {
    for (const Change& change : changes) {
      if (change.operand >= operand) value = coerce(std::move(value), change.type);
    }
    return coerce(std::move(value), type);
  }
};

// Unreadable columns of all operands, without duplicates.
std::vector<OmittedColumn> merge_left_out(std::vector<BoundQuery>& operands) {
  std::vector<OmittedColumn> merged = std::move(operands.front().left_out);
  for (size_t i = 1; i < operands.size(); ++i) {
    for (OmittedColumn& column : operands[i].left_out) {
      bool is_known = std::any_of(merged.begin(), merged.end(),
                                  [&](const OmittedColumn& own) { return own.name == column.name && own.place == column.place; });
      if (!is_known) merged.push_back(std::move(column));
    }
  }
  std::stable_sort(merged.begin(), merged.end(),
                   [](const OmittedColumn& one, const OmittedColumn& other) { return one.place < other.place; });
  return merged;
}

}  // namespace

BoundQuery QueryBinder::bind_set_operation(const ast::Query& query, const ast::SetOperation& operation, const NameScope* outer) {
  SetKind kind = kind_of(operation);
  std::vector<BoundQuery> operands;
  for (const ast::Query* operand : operands_of(operation)) {
    stop_if_cancelled(options_.token);
    operands.push_back(bind_query(*operand, outer));
  }
  const size_t width = operands[0].output.size();
  std::vector<ColumnTypes> types(width);
  for (size_t column = 0; column < width; ++column) {
    ColumnId id = operands[0].output[column].id;
    types[column].type = columns_.type(id);
    types[column].is_open = operands[0].is_untyped(id);
    types[column].is_null = operands[0].untyped_nulls.contains(id);
  }
  for (size_t i = 1; i < operands.size(); ++i) {
    const BoundQuery& next = operands[i];
    if (next.output.size() != width)
      refuse_at(fmt::format("{} of {} and {} columns", name_of(kind), width, next.output.size()), query.position);
    for (size_t column = 0; column < width; ++column) {
      ColumnTypes& own = types[column];
      ColumnId id = next.output[column].id;
      LogicalType second = columns_.type(id);
      std::optional<LogicalType> type = column_type(own.type, second);
      if (own.is_open != next.is_untyped(id)) type = own.is_open ? second : own.type;
      if (!type) {
        refuse_at(fmt::format("{}: column {} is {} on the left and {} on the right", name_of(kind), column + 1, own.type.to_string(),
                              second.to_string()),
                  query.position);
      }
      // NULL UNION NULL is still open; two literals are text.
      own.is_null = own.is_null && next.untyped_nulls.contains(id);
      own.is_open = own.is_null;
      own.type = *type;
      if (own.changes.empty() || own.changes.back().type != *type) {
        own.changes.push_back({i, *type});
      } else {
        own.changes.back().operand = i;
      }
    }
  }

  std::vector<SetOperand> inputs;
  for (size_t i = 0; i < operands.size(); ++i) {
    std::vector<NamedExpression> columns;
    SetOperand input;
    for (size_t column = 0; column < width; ++column) {
      input.columns.push_back(columns_.add(operands[0].output[column].name, types[column].type));
      columns.push_back({input.columns.back(), types[column].coerce_operand(columns_.reference(operands[i].output[column].id), i)});
    }
    input.plan = project(std::move(operands[i].plan), std::move(columns));
    inputs.push_back(std::move(input));
  }
  SetOperand whole = combine_operands(kind, operation.all, std::move(inputs));

  BoundQuery bound;
  bound.plan = std::move(whole.plan);
  for (size_t column = 0; column < width; ++column) {
    bound.output.push_back({whole.columns[column], operands[0].output[column].name});
    if (types[column].is_null) bound.note_untyped(whole.columns[column], true);
  }
  bound.left_out = merge_left_out(operands);
  order_output(query, bound);
  limit_output(query, bound);
  return bound;
}

QueryBinder::SetOperand QueryBinder::combine_two(LogicalSetOperation::Kind kind, bool all, SetOperand left, SetOperand right) {
  LogicalSetOperation node{.kind = kind, .all = all};
  for (ColumnId id : left.columns) node.columns.push_back(columns_.add(columns_.name(id), columns_.type(id)));
  SetOperand combined{nullptr, node.columns};
  node.left_columns = std::move(left.columns);
  node.right_columns = std::move(right.columns);
  combined.plan = make_node(std::move(node), std::move(left.plan), std::move(right.plan));
  return combined;
}

// UNION and INTERSECT are associative. A UNION without ALL needs to remove duplicates only in the last step. The right operands of several
// EXCEPTs are combined by UNION ALL, since their row counts are subtracted one after the other.
QueryBinder::SetOperand QueryBinder::combine_operands(LogicalSetOperation::Kind kind, bool all, std::vector<SetOperand> operands) {
  if (kind == SetKind::Except && operands.size() > 2) {
    SetOperand first = std::move(operands.front());
    operands.erase(operands.begin());
    return combine_two(kind, all, std::move(first), combine_operands(SetKind::Union, true, std::move(operands)));
  }
  const bool inner_all = all || kind == SetKind::Union;
  while (operands.size() > 2) {
    std::vector<SetOperand> halved;
    for (size_t i = 0; i + 1 < operands.size(); i += 2)
      halved.push_back(combine_two(kind, inner_all, std::move(operands[i]), std::move(operands[i + 1])));
    if (operands.size() % 2 == 1) halved.push_back(std::move(operands.back()));
    operands = std::move(halved);
  }
  if (operands.size() == 1) return std::move(operands[0]);
  return combine_two(kind, all, std::move(operands[0]), std::move(operands[1]));
}

}  // namespace pistachio
