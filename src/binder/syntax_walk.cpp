#include "binder/syntax_walk.h"

#include <algorithm>

namespace pistachio {

namespace {

using Visit = std::function<void(const ast::Expression&)>;

struct ChildVisitor {
  const Visit& visit;

  void one(const ast::ExpressionPtr& child) {
    if (child) visit(*child);
  }
  void all(const std::vector<ast::ExpressionPtr>& children) {
    for (const ast::ExpressionPtr& child : children) one(child);
  }

  void operator()(const ast::Literal&) {}
  void operator()(const ast::ColumnName&) {}
  void operator()(const ast::Star& node) {
    for (const ast::SelectItem& item : node.replaced) one(item.expression);
  }
  void operator()(const ast::Operator& node) { all(node.operands); }
  void operator()(const ast::Logical& node) { all(node.operands); }
  void operator()(const ast::Test& node) { one(node.operand); }
  void operator()(const ast::Between& node) {
    one(node.operand);
    one(node.low);
    one(node.high);
  }
  void operator()(const ast::InList& node) {
    one(node.operand);
    all(node.list);
  }
  void operator()(const ast::Call& node) {
    all(node.arguments);
    one(node.filter);
    for (const ast::OrderItem& item : node.order_by) one(item.expression);
    if (node.over == nullptr) return;
    all(node.over->partition_by);
    for (const ast::OrderItem& item : node.over->order_by) one(item.expression);
    if (!node.over->frame) return;
    one(node.over->frame->begin.offset);
    one(node.over->frame->end.offset);
  }
  void operator()(const ast::Cast& node) { one(node.operand); }
  void operator()(const ast::Case& node) {
    one(node.operand);
    for (const ast::Case::When& when : node.whens) {
      one(when.condition);
      one(when.result);
    }
    one(node.otherwise);
  }
  void operator()(const ast::Subquery& node) { one(node.operand); }
  void operator()(const ast::Row& node) { all(node.fields); }
};

class TableSearch {
 public:
  explicit TableSearch(const std::string& name) : name_(name) {}

  bool in_query(const ast::Query& query) const {
    for (const ast::CommonTable& table : query.with) {
      bool hides = table.name == name_;
      // Inside a recursive CTE its name refers to itself.
      if (!(hides && query.recursive) && in_query(*table.query)) return true;
      if (hides) return false;
    }
    bool in_order = std::any_of(query.order_by.begin(), query.order_by.end(),
                                [&](const ast::OrderItem& item) { return in_expression(*item.expression); });
    const bool in_limit = (query.limit && in_expression(*query.limit)) || (query.offset && in_expression(*query.offset));
    return in_order || in_limit || std::visit([&](const auto& body) { return in_body(body); }, query.body);
  }

 private:
  bool in_body(const ast::Select& select) const {
    auto in_item = [&](const ast::SelectItem& item) { return in_expression(*item.expression); };
    return std::any_of(select.from.begin(), select.from.end(), [&](const auto& table) { return in_table(*table); }) ||
           std::any_of(select.items.begin(), select.items.end(), in_item) || in_any(select.distinct_on) || in_any(select.group_by) ||
           (select.where && in_expression(*select.where)) || (select.having && in_expression(*select.having)) ||
           (select.qualify && in_expression(*select.qualify)) ||
           std::any_of(select.windows.begin(), select.windows.end(), [&](const auto& window) { return in_window(window); });
  }
  bool in_window(const ast::WindowDefinition& window) const {
    return in_any(window.partition_by) || std::any_of(window.order_by.begin(), window.order_by.end(), [&](const ast::OrderItem& item) {
             return in_expression(*item.expression);
           });
  }
  bool in_body(const ast::Values& values) const {
    return std::any_of(values.rows.begin(), values.rows.end(), [&](const auto& row) { return in_any(row); });
  }
  bool in_body(const ast::SetOperation& operation) const { return in_query(*operation.left) || in_query(*operation.right); }

  bool in_table(const ast::TableReference& table) const {
    if (const auto* named = std::get_if<ast::NamedTable>(&table.node)) return named->parts.size() == 1 && named->parts[0] == name_;
    if (const auto* subquery = std::get_if<ast::SubqueryTable>(&table.node)) return in_query(*subquery->query);
    const auto* join = std::get_if<ast::JoinTable>(&table.node);
    return join != nullptr && (in_table(*join->left) || in_table(*join->right) || (join->condition && in_expression(*join->condition)));
  }

  bool in_any(const std::vector<ast::ExpressionPtr>& expressions) const {
    return std::any_of(expressions.begin(), expressions.end(), [&](const auto& expression) { return in_expression(*expression); });
  }
  bool in_expression(const ast::Expression& expression) const {
    const auto* subquery = std::get_if<ast::Subquery>(&expression.node);
    bool found = subquery != nullptr && in_query(*subquery->query);
    for_each_child(expression, [&](const ast::Expression& child) { found = found || in_expression(child); });
    return found;
  }

  const std::string& name_;
};

}  // namespace

void for_each_child(const ast::Expression& expression, const Visit& visit) {
  std::visit(ChildVisitor{visit}, expression.node);
}

bool reads_table(const ast::Query& query, const std::string& name) {
  return TableSearch(name).in_query(query);
}

}  // namespace pistachio
