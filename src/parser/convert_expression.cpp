// Expressions apart from operators, calls and literals: columns, AND/OR/NOT, tests, CASE, subqueries, rows. See tree_converter.h.
#include <array>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "parser/tree_converter.h"

namespace pistachio {

namespace {

using TestKind = ast::Test::Kind;

constexpr std::array<std::pair<std::string_view, TestKind>, 6> boolean_tests = {{{"IS_TRUE", TestKind::IsTrue},
                                                                                 {"IS_NOT_TRUE", TestKind::IsNotTrue},
                                                                                 {"IS_FALSE", TestKind::IsFalse},
                                                                                 {"IS_NOT_FALSE", TestKind::IsNotFalse},
                                                                                 {"IS_UNKNOWN", TestKind::IsUnknown},
                                                                                 {"IS_NOT_UNKNOWN", TestKind::IsNotUnknown}}};

constexpr std::array<std::string_view, 6> comparisons = {"=", "<>", "<", "<=", ">", ">="};

// Unsupported kinds of expression, as the user knows them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> refused_kinds = {
    {{"A_ArrayExpr", "An array"},
     {"A_Indirection", "A subscript or field of a value"},
     {"NamedArgExpr", "A named argument"},
     {"XmlExpr", "XML"},
     {"XmlSerialize", "XML"},
     {"SetToDefault", "DEFAULT as a value"},
     {"CurrentOfExpr", "CURRENT OF"}}};

}  // namespace

ast::ExpressionPtr TreeConverter::expression(const Json& node) {
  const Descent descent(*this, 1, 1);
  const std::string_view kind = kind_of(node);
  ENSURE(!kind.empty(), "an expression without a node");
  const Json& body = body_of(node);
  if (kind == "ColumnRef") return column(body);
  if (kind == "A_Const") return literal(body);
  if (kind == "A_Expr") return operator_expression(body);
  if (kind == "FuncCall") return call(body);
  if (kind == "TypeCast") return cast(body);
  if (kind == "BoolExpr") return logical(body);
  if (kind == "NullTest") return null_test(body);
  if (kind == "BooleanTest") return boolean_test(body);
  if (kind == "CaseExpr") return case_expression(body);
  if (kind == "SubLink") return sublink(body);
  if (kind == "CoalesceExpr") return call_of_list("coalesce", body);
  if (kind == "MinMaxExpr") return call_of_list(text_field(body, "op") == "IS_LEAST" ? "least" : "greatest", body);
  if (kind == "SQLValueFunction") return value_function(body);
  if (kind == "GroupingFunc") return call_of_list("grouping", body);
  if (kind == "RowExpr") return row(body);
  if (kind == "CollateClause") return collate(body);
  if (kind == "ParamRef") refuse("A parameter ($1)", position(body));
  for (const auto& [refused, words] : refused_kinds) {
    if (kind != refused) continue;
    const Json* argument = find_field(body, "arg");
    const bool of_argument = find_field(body, "location") == nullptr && argument != nullptr;
    refuse(words, position(of_argument ? body_of(*argument) : body));
  }
  refuse("This expression", position(body));
}

ast::ExpressionPtr TreeConverter::optional_expression(const Json* node) {
  return node == nullptr ? nullptr : expression(*node);
}

std::vector<ast::ExpressionPtr> TreeConverter::expressions(const Json* list) {
  std::vector<ast::ExpressionPtr> result;
  if (list == nullptr) return result;
  result.reserve(list->size());
  for (const Json& node : *list) result.push_back(expression(node));
  return result;
}

ast::ExpressionPtr TreeConverter::star(const Json& body) {
  const Json& fields = body.at("fields");
  if (kind_of(fields.back()) != "A_Star") return nullptr;
  ast::Star result;
  for (size_t i = 0; i + 1 < fields.size(); ++i) result.qualifier.push_back(name_of_node(fields[i]));
  return make(std::move(result), position(body));
}

ast::ExpressionPtr TreeConverter::column(const Json& body) {
  if (const Json& field = body.at("fields").front(); kind_of(field) == "String") {
    const Marker* marker = rewritten_.find_marker(text_field(body_of(field), "sval"));
    if (marker != nullptr && marker->kind == Marker::Kind::All) return make(ast::Star{}, position(body));
  }
  if (kind_of(body.at("fields").back()) == "A_Star") throw UserError("* can only stand in a select list and in count(*)", position(body));
  return make(ast::ColumnName{names(find_field(body, "fields"))}, position(body));
}

ast::ExpressionPtr TreeConverter::logical(const Json& body) {
  const std::string_view kind = text_field(body, "boolop");
  ast::Logical result;
  result.kind = kind == "AND_EXPR" ? ast::Logical::Kind::And : kind == "OR_EXPR" ? ast::Logical::Kind::Or : ast::Logical::Kind::Not;
  result.operands = expressions(find_field(body, "args"));
  return make(std::move(result), position(body));
}

ast::ExpressionPtr TreeConverter::null_test(const Json& body) {
  const bool is_null = text_field(body, "nulltesttype") == "IS_NULL";
  return make(ast::Test{is_null ? TestKind::IsNull : TestKind::IsNotNull, expression(body.at("arg"))}, position(body));
}

ast::ExpressionPtr TreeConverter::boolean_test(const Json& body) {
  for (const auto& [word, kind] : boolean_tests) {
    if (text_field(body, "booltesttype") == word) return make(ast::Test{kind, expression(body.at("arg"))}, position(body));
  }
  refuse("This test", position(body));
}

ast::ExpressionPtr TreeConverter::case_expression(const Json& body) {
  ast::Case result;
  result.operand = optional_expression(find_field(body, "arg"));
  for (const Json& node : body.at("args")) {
    const Json& when = body_of(node);
    ast::ExpressionPtr condition = expression(when.at("expr"));
    result.whens.push_back({std::move(condition), expression(when.at("result"))});
  }
  result.otherwise = optional_expression(find_field(body, "defresult"));
  return make(std::move(result), position(body));
}

ast::ExpressionPtr TreeConverter::sublink(const Json& body) {
  using Kind = ast::Subquery::Kind;
  const std::string_view kind = text_field(body, "subLinkType");
  ast::Subquery result;
  if (kind == "EXISTS_SUBLINK") {
    result.kind = Kind::Exists;
  } else if (kind == "EXPR_SUBLINK") {
    result.kind = Kind::Scalar;
  } else if (kind == "ANY_SUBLINK" || kind == "ALL_SUBLINK") {
    result.operand = expression(body.at("testexpr"));
    // IN names no operator.
    const std::string comparison = find_field(body, "operName") == nullptr ? "=" : operator_name(body, "operName");
    bool known = false;
    for (std::string_view candidate : comparisons) known = known || comparison == candidate;
    if (!known) refuse("The operator " + comparison + " with a subquery", position(body));
    result.kind = kind == "ALL_SUBLINK" ? Kind::All : comparison == "=" ? Kind::In : Kind::Any;
    if (result.kind != Kind::In) result.comparison = comparison;
  } else {
    refuse("An array", position(body));
  }
  result.query = query(body.at("subselect"));
  return make(std::move(result), position(body));
}

ast::ExpressionPtr TreeConverter::row(const Json& body) {
  return make(ast::Row{expressions(find_field(body, "args"))}, position(body));
}

// Text is compared by bytes, which is collation "C".
ast::ExpressionPtr TreeConverter::collate(const Json& body) {
  const std::vector<std::string> collation = names(find_field(body, "collname"));
  const bool bytes = collation.back() == "C" && (collation.size() == 1 || collation.front() == "pg_catalog");
  if (!bytes) refuse("The collation \"" + collation.back() + "\" (only \"C\")", position(body));
  return expression(body.at("arg"));
}

}  // namespace pistachio
