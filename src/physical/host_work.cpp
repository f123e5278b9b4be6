#include "physical/host_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "expr/function.h"

namespace pistachio {

namespace {

bool are_constant(std::span<const ExpressionPtr> expressions) {
  return std::all_of(expressions.begin(), expressions.end(), [](const ExpressionPtr& expression) { return expression->is_constant(); });
}

bool runs_on_host(const Expression& call) {
  const Function& function = call.function();
  if (function.place == FunctionPlace::AnyDevice) return false;
  const std::vector<ExpressionPtr>& arguments = call.children();
  if (function.evaluate_on_device == nullptr) return arguments.empty() || !are_constant(arguments);
  // As in expr/device_bodies.cpp: only the first argument may vary.
  return arguments.size() > 1 && !are_constant(std::span(arguments).subspan(1));
}

void collect(const Expression& expression, std::set<std::string>& names) {
  if (expression.kind() == ExpressionKind::Call && runs_on_host(expression)) names.insert(std::string(expression.function().name));
  if (expression.kind() == ExpressionKind::Cast) {
    const LogicalType from = expression.children()[0]->type(), to = expression.type();
    if (from.is_text() != to.is_text() && !expression.children()[0]->is_constant()) names.insert(fmt::format("CAST AS {}", to.to_string()));
  }
  for (const ExpressionPtr& child : expression.children()) collect(*child, names);
}

}  // namespace

std::set<std::string> host_work(const PhysicalNode& node) {
  std::set<std::string> names;
  for_each_expression(node, [&](const ExpressionPtr& expression, int) { collect(*expression, names); });
  if (const auto* scan = node.as<PhysicalScan>()) {
    for (const ExpressionPtr& test : scan->row_tests) collect(*test, names);
  }
  if (const auto* window = node.as<PhysicalWindow>()) {
    for (const WindowCall& call : window->calls) {
      if (call.kind == WindowKind::Concatenate) names.insert(std::string(window_function_name(call)));
    }
  }
  return names;
}

}  // namespace pistachio
