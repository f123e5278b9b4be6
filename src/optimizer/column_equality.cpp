#include "optimizer/column_equality.h"

#include "expr/function.h"

namespace pistachio {

std::optional<ColumnPair> as_column_equality(const Expression& condition) {
  if (condition.kind() != ExpressionKind::Call || condition.function().name != "=") return std::nullopt;
  const Expression& left = *condition.children()[0];
  const Expression& right = *condition.children()[1];
  if (left.kind() != ExpressionKind::Column || right.kind() != ExpressionKind::Column) return std::nullopt;
  if (left.type() != right.type() || left.column_id() == right.column_id()) return std::nullopt;
  return ColumnPair{left.column_id(), right.column_id()};
}

}  // namespace pistachio
