// Deletes syntax trees. The trees of long chains are as deep as the chain is long: they are deleted with an explicit list of pending nodes
// instead of recursion. Any thread; the list is the only memory.
#include "parser/ast.h"

#include <utility>

namespace pistachio::ast {

namespace {

using Expressions = std::vector<ExpressionPtr>;

void take(ExpressionPtr& child, Expressions& taken) {
  if (child) taken.push_back(std::move(child));
}

void take(Expressions& children, Expressions& taken) {
  for (ExpressionPtr& child : children) take(child, taken);
}

void take_children(Literal&, Expressions&) {}
void take_children(ColumnName&, Expressions&) {}
void take_children(Star& node, Expressions& taken) {
  for (SelectItem& item : node.replaced) take(item.expression, taken);
}
void take_children(Operator& node, Expressions& taken) {
  take(node.operands, taken);
}
void take_children(Logical& node, Expressions& taken) {
  take(node.operands, taken);
}
void take_children(Test& node, Expressions& taken) {
  take(node.operand, taken);
}
void take_children(Cast& node, Expressions& taken) {
  take(node.operand, taken);
}
void take_children(Subquery& node, Expressions& taken) {
  take(node.operand, taken);
}
void take_children(Row& node, Expressions& taken) {
  take(node.fields, taken);
}

void take_children(Between& node, Expressions& taken) {
  take(node.operand, taken);
  take(node.low, taken);
  take(node.high, taken);
}

void take_children(InList& node, Expressions& taken) {
  take(node.operand, taken);
  take(node.list, taken);
}

void take_children(Call& node, Expressions& taken) {
  take(node.arguments, taken);
  take(node.filter, taken);
  for (OrderItem& item : node.order_by) take(item.expression, taken);
  if (node.over == nullptr) return;
  take(node.over->partition_by, taken);
  for (OrderItem& item : node.over->order_by) take(item.expression, taken);
  if (!node.over->frame) return;
  take(node.over->frame->begin.offset, taken);
  take(node.over->frame->end.offset, taken);
}

void take_children(Case& node, Expressions& taken) {
  take(node.operand, taken);
  for (Case::When& when : node.whens) {
    take(when.condition, taken);
    take(when.result, taken);
  }
  take(node.otherwise, taken);
}

void take_children(Expression& node, Expressions& taken) {
  std::visit([&](auto& kind) { take_children(kind, taken); }, node.node);
}

// Queries and tables: only set operations and joins form chains; everything else is only as deep as the text's parentheses.
void take_children(Query& node, std::vector<QueryPtr>& taken) {
  auto* operation = std::get_if<SetOperation>(&node.body);
  if (operation == nullptr) return;
  if (operation->left) taken.push_back(std::move(operation->left));
  if (operation->right) taken.push_back(std::move(operation->right));
}

void take_children(TableReference& node, std::vector<TableReferencePtr>& taken) {
  auto* join = std::get_if<JoinTable>(&node.node);
  if (join == nullptr) return;
  if (join->left) taken.push_back(std::move(join->left));
  if (join->right) taken.push_back(std::move(join->right));
}

template <typename Node>
void delete_tree(Node* root) noexcept {
  std::vector<std::unique_ptr<Node, DeleteTree>> remaining;
  take_children(*root, remaining);
  delete root;
  while (!remaining.empty()) {
    Node* node = remaining.back().release();
    remaining.pop_back();
    take_children(*node, remaining);
    delete node;
  }
}

}  // namespace

void DeleteTree::operator()(Expression* root) const noexcept {
  delete_tree(root);
}
void DeleteTree::operator()(Query* root) const noexcept {
  delete_tree(root);
}
void DeleteTree::operator()(TableReference* root) const noexcept {
  delete_tree(root);
}

}  // namespace pistachio::ast
