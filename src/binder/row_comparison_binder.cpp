// Rows of values, (a, b): compared field by field and tested for NULL. There are no row values beyond that.
#include <fmt/format.h>

#include <utility>

#include "binder/expression_binding.h"
#include "expr/function_table.h"

namespace pistachio {

namespace {

bool is_order_comparison(std::string_view name) {
  return name == "<" || name == "<=" || name == ">" || name == ">=";
}

// The first unequal pair decides, and NULL is not equal. A CASE instead of nested ORs, since a row may have many fields. The comparison of
// the first fields is also ANDed in front, since scans and joins can use it.
ExpressionPtr order_of_rows(const std::vector<FieldPair>& pairs, std::string_view name, int64_t position) {
  std::string_view strict = name.substr(0, 1);
  auto compare = [&](const FieldPair& pair, std::string_view with) { return make_call(with, {pair.first, pair.second}, position); };
  if (pairs.size() == 1) return compare(pairs[0], name);
  std::vector<ExpressionPtr> cases;
  for (size_t i = 0; i + 1 < pairs.size(); ++i) {
    cases.push_back(make_call("is not true", {compare(pairs[i], "=")}, position));
    cases.push_back(compare(pairs[i], strict));
  }
  cases.push_back(compare(pairs.back(), name));
  ExpressionPtr order = Expression::conditional(ExpressionKind::Case, std::move(cases), TypeKind::Boolean, position);
  ExpressionPtr first = compare(pairs[0], strict == "<" ? "<=" : ">=");
  return Expression::logical(ExpressionKind::And, {std::move(first), std::move(order)}, position);
}

}  // namespace

ExpressionPtr compare_rows(const std::vector<FieldPair>& pairs, std::string_view name, int64_t position) {
  bool is_all = name == "=" || name == "is not distinct from";
  bool is_any = name == "<>" || name == "is distinct from";
  if (!is_all && !is_any && !is_order_comparison(name))
    refuse_at(fmt::format("rows of values do not have the operator {}", name), position);
  if (pairs.empty()) refuse_at("rows without values cannot be compared", position);
  if (!is_all && !is_any) return order_of_rows(pairs, name, position);
  std::vector<ExpressionPtr> parts;
  for (const FieldPair& pair : pairs) parts.push_back(make_call(name, {pair.first, pair.second}, position));
  return Expression::logical(is_all ? ExpressionKind::And : ExpressionKind::Or, std::move(parts), position);
}

ExpressionPtr QueryBinder::ExpressionBinding::bind_row_comparison(const ast::Row& left, const std::string& name, const ast::Row& right,
                                                                  int64_t position) {
  if (left.fields.size() != right.fields.size())
    refuse_at(fmt::format("rows of {} and {} values cannot be compared", left.fields.size(), right.fields.size()), position);
  std::vector<FieldPair> pairs;
  for (size_t i = 0; i < left.fields.size(); ++i) {
    ExpressionPtr first = bind(*left.fields[i]);
    pairs.emplace_back(std::move(first), bind(*right.fields[i]));
  }
  return compare_rows(pairs, name, position);
}

// IS NULL: every field is; IS NOT NULL: no field is. They are not complementary, as in PostgreSQL.
ExpressionPtr QueryBinder::ExpressionBinding::bind_row_test(const ast::Row& row, std::string_view name, int64_t position) {
  if (name != "is null" && name != "is not null") refuse_at("a row of values is not a BOOLEAN", position);
  if (row.fields.empty()) refuse_at("a row without values cannot be tested", position);
  std::vector<ExpressionPtr> parts;
  for (const ast::ExpressionPtr& field : row.fields) parts.push_back(make_call(name, {bind(*field)}, position));
  return Expression::logical(ExpressionKind::And, std::move(parts), position);
}

}  // namespace pistachio
