// See expression_copy.h. Recursion: as deep as the expression, which ParseLimits bounds.
#include "binder/expression_copy.h"

#include <utility>
#include <vector>

#include "base/error.h"

namespace pistachio {

namespace {

class ExpressionCopy {
 public:
  using Replace = std::function<ast::ExpressionPtr(const ast::Star&, int64_t)>;
  explicit ExpressionCopy(const Replace& replace) : replace_(replace) {}

  ast::ExpressionPtr copy(const ast::Expression& expression) {
    position_ = expression.position;
    if (const auto* star = std::get_if<ast::Star>(&expression.node)) return replace_(*star, expression.position);
    auto copied = std::make_unique<ast::Expression>();
    copied->position = expression.position;
    std::visit([&](const auto& node) { copied->node = copy_node(node); }, expression.node);
    return copied;
  }

 private:
  ast::ExpressionPtr copy(const ast::ExpressionPtr& expression) { return expression ? copy(*expression) : nullptr; }
  std::vector<ast::ExpressionPtr> copy(const std::vector<ast::ExpressionPtr>& expressions) {
    std::vector<ast::ExpressionPtr> copied;
    for (const ast::ExpressionPtr& expression : expressions) copied.push_back(copy(expression));
    return copied;
  }
  std::vector<ast::OrderItem> copy(const std::vector<ast::OrderItem>& items) {
    std::vector<ast::OrderItem> copied;
    for (const ast::OrderItem& item : items) copied.push_back({copy(item.expression), item.descending, item.nulls});
    return copied;
  }

  ast::Literal copy_node(const ast::Literal& node) { return node; }
  ast::ColumnName copy_node(const ast::ColumnName& node) { return node; }
  ast::Star copy_node(const ast::Star&) { return {}; }
  ast::Operator copy_node(const ast::Operator& node) { return {node.name, copy(node.operands)}; }
  ast::Logical copy_node(const ast::Logical& node) { return {node.kind, copy(node.operands)}; }
  ast::Test copy_node(const ast::Test& node) { return {node.kind, copy(node.operand)}; }
  ast::Between copy_node(const ast::Between& node) {
    ast::Between copied;
    copied.operand = copy(node.operand);
    copied.low = copy(node.low);
    copied.high = copy(node.high);
    copied.negated = node.negated;
    copied.symmetric = node.symmetric;
    return copied;
  }
  ast::InList copy_node(const ast::InList& node) {
    ast::InList copied;
    copied.operand = copy(node.operand);
    copied.list = copy(node.list);
    copied.negated = node.negated;
    return copied;
  }
  ast::Cast copy_node(const ast::Cast& node) { return {copy(node.operand), node.type}; }
  ast::Row copy_node(const ast::Row& node) { return {copy(node.fields)}; }
  ast::Case copy_node(const ast::Case& node) {
    ast::Case copied;
    copied.operand = copy(node.operand);
    for (const ast::Case::When& when : node.whens) {
      ast::ExpressionPtr condition = copy(when.condition);
      copied.whens.push_back({std::move(condition), copy(when.result)});
    }
    copied.otherwise = copy(node.otherwise);
    return copied;
  }
  ast::Subquery copy_node(const ast::Subquery&) { throw UserError("a subquery in an expression with COLUMNS is not supported", position_); }
  ast::Call copy_node(const ast::Call& node) {
    ast::Call copied;
    copied.name = node.name;
    copied.arguments = copy(node.arguments);
    copied.star = node.star;
    copied.distinct = node.distinct;
    copied.filter = copy(node.filter);
    copied.order_by = copy(node.order_by);
    if (node.over) copied.over = std::make_unique<ast::WindowDefinition>(copy_window(*node.over));
    copied.within_group = node.within_group;
    copied.ignore_nulls = node.ignore_nulls;
    return copied;
  }

  ast::WindowDefinition copy_window(const ast::WindowDefinition& window) {
    ast::WindowDefinition copied;
    copied.name = window.name;
    copied.base = window.base;
    copied.is_reference = window.is_reference;
    copied.partition_by = copy(window.partition_by);
    copied.order_by = copy(window.order_by);
    if (window.frame) {
      copied.frame.emplace();
      copied.frame->unit = window.frame->unit;
      copied.frame->begin = {window.frame->begin.kind, copy(window.frame->begin.offset)};
      copied.frame->end = {window.frame->end.kind, copy(window.frame->end.offset)};
      copied.frame->exclusion = window.frame->exclusion;
    }
    copied.position = window.position;
    return copied;
  }

  const Replace& replace_;
  int64_t position_ = -1;
};

}  // namespace

ast::ExpressionPtr copy_expression(const ast::Expression& expression,
                                   const std::function<ast::ExpressionPtr(const ast::Star&, int64_t)>& replace) {
  return ExpressionCopy(replace).copy(expression);
}

}  // namespace pistachio
