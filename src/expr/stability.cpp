#include "expr/stability.h"

#include <algorithm>

#include "expr/function.h"

namespace pistachio {

bool is_stable(const Expression& expression) {
  if (expression.kind() == ExpressionKind::Call && !expression.function().is_stable) return false;
  return std::all_of(expression.children().begin(), expression.children().end(),
                     [](const ExpressionPtr& child) { return is_stable(*child); });
}

}  // namespace pistachio
