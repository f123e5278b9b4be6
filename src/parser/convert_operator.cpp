// PostgreSQL's A_Expr: operators, LIKE, BETWEEN, IN lists, ANY and ALL over lists. See tree_converter.h.
#include <array>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "parser/tree_converter.h"

namespace pistachio {

namespace {

constexpr std::array<std::string_view, 22> binary_operators = {"+",  "-", "*",  "/", "%",  "^", "||", "&", "|",  "#",  "<<",
                                                               ">>", "=", "<>", "<", "<=", ">", ">=", "~", "~*", "!~", "!~*"};

// LIKE under its PostgreSQL operator name, and its name in our tree.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> like_operators = {
    {{"~~", "like"}, {"!~~", "not like"}, {"~~*", "ilike"}, {"!~~*", "not ilike"}}};

std::string_view like_name(std::string_view sign) {
  for (const auto& [postgres, ours] : like_operators) {
    if (sign == postgres) return ours;
  }
  return {};
}

bool is_plain_binary(const Json& node) {
  if (kind_of(node) != "A_Expr") return false;
  const Json& body = body_of(node);
  return text_field(body, "kind") == "AEXPR_OP" && find_field(body, "lexpr") != nullptr;
}

}  // namespace

std::string TreeConverter::operator_name(const Json& body, const char* key) const {
  const std::vector<std::string> parts = names(find_field(body, key));
  if (parts.size() != 1) refuse("OPERATOR(schema.name)", position(body));
  return parts.front();
}

ast::ExpressionPtr TreeConverter::operator_expression(const Json& body) {
  const std::string_view kind = text_field(body, "kind");
  if (kind == "AEXPR_OP") return plain_operator(body);
  if (kind == "AEXPR_LIKE" || kind == "AEXPR_ILIKE" || kind == "AEXPR_SIMILAR") return pattern_operator(body, kind);
  if (kind == "AEXPR_IN") return in_list(body);
  if (kind == "AEXPR_OP_ANY" || kind == "AEXPR_OP_ALL") return any_or_all_of_list(body, kind == "AEXPR_OP_ANY");
  if (kind.find("BETWEEN") != std::string_view::npos) return between(body, kind);
  std::vector<ast::ExpressionPtr> operands;
  operands.push_back(expression(body.at("lexpr")));
  operands.push_back(expression(body.at("rexpr")));
  if (kind == "AEXPR_DISTINCT") return make(ast::Operator{"is distinct from", std::move(operands)}, position(body));
  if (kind == "AEXPR_NOT_DISTINCT") return make(ast::Operator{"is not distinct from", std::move(operands)}, position(body));
  ENSURE_EQ(kind, "AEXPR_NULLIF");
  ast::Call nullif;
  nullif.name = "nullif";
  nullif.arguments = std::move(operands);
  return make(std::move(nullif), position(body));
}

// A chain a + b + c is deep on its left side: descend in a loop, then build upwards.
ast::ExpressionPtr TreeConverter::plain_operator(const Json& body) {
  std::vector<const Json*> chain = {&body};
  while (find_field(*chain.back(), "lexpr") != nullptr && is_plain_binary(chain.back()->at("lexpr"))) {
    chain.push_back(&body_of(chain.back()->at("lexpr")));
  }
  const Descent descent(*this, 0, static_cast<int64_t>(chain.size()));
  ast::ExpressionPtr result = optional_expression(find_field(*chain.back(), "lexpr"));
  for (size_t i = chain.size(); i-- > 0;) result = one_operator(*chain[i], std::move(result));
  return result;
}

ast::ExpressionPtr TreeConverter::one_operator(const Json& body, ast::ExpressionPtr left) {
  std::string sign = operator_name(body);
  ast::ExpressionPtr right = expression(body.at("rexpr"));
  if (left == nullptr) {
    if (sign != "-" && sign != "+" && sign != "~") refuse("The prefix operator " + sign, position(body));
    // PostgreSQL folds -5 itself, but not +5 and - +5.
    auto* number = sign == "~" ? nullptr : std::get_if<ast::Literal>(&right->node);
    if (number != nullptr && number->kind == ast::Literal::Kind::Number) {
      if (sign == "-" && number->text != "0") number->text = number->text.starts_with('-') ? number->text.substr(1) : "-" + number->text;
      return right;
    }
  } else {
    bool known = false;
    for (std::string_view candidate : binary_operators) known = known || sign == candidate;
    if (!like_name(sign).empty()) {
      sign = like_name(sign);
    } else if (!known) {
      refuse("The operator " + sign, position(body));
    }
  }
  ast::Operator result;
  result.name = std::move(sign);
  if (left != nullptr) result.operands.push_back(std::move(left));
  result.operands.push_back(std::move(right));
  return make(std::move(result), position(body));
}

// ESCAPE arrives as a call around the pattern; SIMILAR TO always has that call.
ast::ExpressionPtr TreeConverter::pattern_operator(const Json& body, std::string_view kind) {
  const std::string sign = operator_name(body);
  ast::Operator result;
  result.name = kind != "AEXPR_SIMILAR" ? std::string(like_name(sign)) : sign == "~" ? "similar to" : "not similar to";
  ENSURE(!result.name.empty(), "no pattern operator {}", sign);
  result.operands.push_back(expression(body.at("lexpr")));
  const Json& pattern = body.at("rexpr");
  const Json* escaped = nullptr;
  if (kind_of(pattern) == "FuncCall") {
    const Json& function = body_of(pattern).at("funcname");
    const std::string_view last = text_field(body_of(function.back()), "sval");
    if (function.size() == 2 && (last == "like_escape" || last == "similar_to_escape")) escaped = find_field(body_of(pattern), "args");
  }
  if (escaped != nullptr) {
    for (const Json& argument : *escaped) result.operands.push_back(expression(argument));
  } else {
    result.operands.push_back(expression(pattern));
  }
  return make(std::move(result), position(body));
}

ast::ExpressionPtr TreeConverter::between(const Json& body, std::string_view kind) {
  const Json& bounds = body_of(body.at("rexpr")).at("items");
  ast::Between result;
  result.operand = expression(body.at("lexpr"));
  result.low = expression(bounds[0]);
  result.high = expression(bounds[1]);
  result.negated = kind.find("NOT_") != std::string_view::npos;
  result.symmetric = kind.ends_with("_SYM");
  return make(std::move(result), position(body));
}

ast::ExpressionPtr TreeConverter::in_list(const Json& body) {
  ast::InList result;
  result.operand = expression(body.at("lexpr"));
  result.list = expressions(find_field(body_of(body.at("rexpr")), "items"));
  result.negated = operator_name(body) == "<>";
  return make(std::move(result), position(body));
}

// x = ANY(ARRAY[..]) is IN, x <> ALL(ARRAY[..]) is NOT IN; arrays are not supported elsewhere.
ast::ExpressionPtr TreeConverter::any_or_all_of_list(const Json& body, bool any) {
  const Json& array = body.at("rexpr");
  if (kind_of(array) != "A_ArrayExpr") refuse(any ? "ANY over an array value" : "ALL over an array value", position(body));
  const std::string sign = operator_name(body);
  if (sign != (any ? "=" : "<>")) refuse("The operator " + sign + (any ? " ANY" : " ALL") + " over a list", position(body));
  ast::InList result;
  result.operand = expression(body.at("lexpr"));
  result.list = expressions(find_field(body_of(array), "elements"));
  if (result.list.empty()) refuse("An empty array", position(body));
  result.negated = !any;
  return make(std::move(result), position(body));
}

}  // namespace pistachio
