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

class QueryBinder::SetOperationBinding {
 public:
  SetOperationBinding(QueryBinder& binder, const ast::Query& query, const ast::SetOperation& operation)
      : binder_(binder), query_(query), kind_(kind_of(operation)), is_all_(operation.all) {}

  BoundQuery bind(const std::vector<const ast::Query*>& operands, const NameScope* outer) {
    for (const ast::Query* operand : operands) {
      stop_if_cancelled(binder_.options_.token);
      operands_.push_back(binder_.bind_query(*operand, outer));
    }
    choose_types();
    Operand whole = combine(kind_, is_all_, coerced_operands());
    BoundQuery bound;
    bound.plan = std::move(whole.plan);
    for (size_t column = 0; column < types_.size(); ++column) {
      bound.output.push_back({whole.columns[column], operands_[0].output[column].name});
      if (types_[column].is_null) bound.note_untyped(whole.columns[column], true);
    }
    bound.left_out = merge_left_out(operands_);
    return bound;
  }

 private:
  using Operand = SetOperand;

  void choose_types() {
    const BoundQuery& first = operands_[0];
    for (const OutputColumn& column : first.output) {
      types_.push_back({.type = binder_.columns_.type(column.id),
                        .is_open = first.is_untyped(column.id),
                        .is_null = first.untyped_nulls.contains(column.id)});
    }
    for (size_t operand = 1; operand < operands_.size(); ++operand) {
      const size_t width = operands_[operand].output.size();
      if (width != types_.size()) refuse_at(fmt::format("{} of {} and {} columns", name_of(kind_), types_.size(), width), query_.position);
      for (size_t column = 0; column < width; ++column) add_type(operand, column);
    }
  }

  void add_type(size_t operand, size_t column) {
    ColumnTypes& own = types_[column];
    const BoundQuery& next = operands_[operand];
    const ColumnId id = next.output[column].id;
    const LogicalType second = binder_.columns_.type(id);
    std::optional<LogicalType> type = column_type(own.type, second);
    if (own.is_open != next.is_untyped(id)) type = own.is_open ? second : own.type;
    if (!type) {
      refuse_at(fmt::format("{}: column {} is {} on the left and {} on the right", name_of(kind_), column + 1, own.type.to_string(),
                            second.to_string()),
                query_.position);
    }
    // NULL UNION NULL is still open; two literals are text.
    own.is_null = own.is_null && next.untyped_nulls.contains(id);
    own.is_open = own.is_null;
    own.type = *type;
    if (own.changes.empty() || own.changes.back().type != *type) {
      own.changes.push_back({operand, *type});
    } else {
      own.changes.back().operand = operand;
    }
  }

  std::vector<Operand> coerced_operands() {
    std::vector<Operand> inputs;
    for (size_t i = 0; i < operands_.size(); ++i) {
      std::vector<NamedExpression> columns;
      Operand input;
      for (size_t column = 0; column < types_.size(); ++column) {
        const ColumnId id = binder_.columns_.add(operands_[0].output[column].name, types_[column].type);
        ExpressionPtr value = binder_.columns_.reference(operands_[i].output[column].id);
        columns.push_back({id, types_[column].coerce_operand(std::move(value), i)});
        input.columns.push_back(id);
      }
      input.plan = binder_.project(std::move(operands_[i].plan), std::move(columns));
      inputs.push_back(std::move(input));
    }
    return inputs;
  }

  // UNION and INTERSECT are associative. A UNION without ALL needs to remove duplicates only in the last step. The right operands of
  // several EXCEPTs are combined by UNION ALL, since their row counts are subtracted one after the other.
  Operand combine(SetKind kind, bool all, std::vector<Operand> operands) {
    if (kind == SetKind::Except && operands.size() > 2) {
      Operand first = std::move(operands.front());
      operands.erase(operands.begin());
      return binder_.combine_two(kind, all, std::move(first), combine(SetKind::Union, true, std::move(operands)));
    }
    const bool inner_all = all || kind == SetKind::Union;
    while (operands.size() > 2) {
      std::vector<Operand> halved;
      for (size_t i = 0; i + 1 < operands.size(); i += 2)
        halved.push_back(binder_.combine_two(kind, inner_all, std::move(operands[i]), std::move(operands[i + 1])));
      if (operands.size() % 2 == 1) halved.push_back(std::move(operands.back()));
      operands = std::move(halved);
    }
    if (operands.size() == 1) return std::move(operands[0]);
    return binder_.combine_two(kind, all, std::move(operands[0]), std::move(operands[1]));
  }

  QueryBinder& binder_;
  const ast::Query& query_;
  const SetKind kind_;
  const bool is_all_;
  std::vector<BoundQuery> operands_;
  std::vector<ColumnTypes> types_;  // by column
};

SetOperand QueryBinder::combine_two(LogicalSetOperation::Kind kind, bool all, SetOperand left, SetOperand right) {
  LogicalSetOperation node{.kind = kind, .all = all};
  for (ColumnId id : left.columns) node.columns.push_back(columns_.add(columns_.name(id), columns_.type(id)));
  SetOperand combined{nullptr, node.columns};
  node.left_columns = std::move(left.columns);
  node.right_columns = std::move(right.columns);
  combined.plan = make_node(std::move(node), std::move(left.plan), std::move(right.plan));
  return combined;
}

BoundQuery QueryBinder::bind_set_operation(const ast::Query& query, const ast::SetOperation& operation, const NameScope* outer) {
  BoundQuery bound = SetOperationBinding(*this, query, operation).bind(operands_of(operation), outer);
  order_output(query, bound);
  limit_output(query, bound);
  return bound;
}

}  // namespace pistachio
