// Literals, casts and type names. See tree_converter.h.
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "parser/tree_converter.h"

namespace pistachio {

namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 10> type_names = {{{"int4", "integer"},
                                                                                       {"int", "integer"},
                                                                                       {"int8", "bigint"},
                                                                                       {"int2", "smallint"},
                                                                                       {"float4", "real"},
                                                                                       {"float8", "double"},
                                                                                       {"bool", "boolean"},
                                                                                       {"numeric", "decimal"},
                                                                                       {"bpchar", "char"},
                                                                                       {"bytea", "blob"}}};

// PostgreSQL's bits for the fields of an interval, as its first type modifier.
constexpr int64_t month_bit = 1 << 1, year_bit = 1 << 2, day_bit = 1 << 3, hour_bit = 1 << 10, minute_bit = 1 << 11, second_bit = 1 << 12;
constexpr int64_t all_fields = 0x7FFF;
constexpr std::array<std::pair<int64_t, std::string_view>, 13> interval_fields = {
    {{year_bit, "year"},
     {month_bit, "month"},
     {day_bit, "day"},
     {hour_bit, "hour"},
     {minute_bit, "minute"},
     {second_bit, "second"},
     {year_bit | month_bit, "year to month"},
     {day_bit | hour_bit, "day to hour"},
     {day_bit | hour_bit | minute_bit, "day to minute"},
     {day_bit | hour_bit | minute_bit | second_bit, "day to second"},
     {hour_bit | minute_bit, "hour to minute"},
     {hour_bit | minute_bit | second_bit, "hour to second"},
     {minute_bit | second_bit, "minute to second"}}};

}  // namespace

// libpg_query 15-4.0.0 omits integers that are not positive: the value is read from the text, since PostgreSQL has folded preceding minus
// signs (and parentheses) into the number.
std::string TreeConverter::integer_text(const Json& constant) const {
  const int64_t value = integer_field(constant.at("ival"), "ival");
  if (value != 0) return std::to_string(value);
  const int64_t begin = position(constant);
  if (begin < 0) return "0";
  SqlLexer lexer(text_, begin);
  Token token;
  while (lexer.next(token) && token.kind != Token::Kind::Number) {
    const std::string_view sign = token_text(text_, token);
    ENSURE(sign == "(" || sign == "-", "a number was expected, not {}", sign);
  }
  std::string digits(token_text(text_, token));
  std::erase(digits, '_');
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  return digits.empty() ? "0" : "-" + digits;
}

ast::ExpressionPtr TreeConverter::literal(const Json& body) {
  using Kind = ast::Literal::Kind;
  const int64_t at = position(body);
  if (flag(body, "isnull")) return make(ast::Literal{}, at);
  if (find_field(body, "ival") != nullptr) return make(ast::Literal{Kind::Number, integer_text(body)}, at);
  if (const Json* number = find_field(body, "fval")) return make(ast::Literal{Kind::Number, std::string(text_field(*number, "fval"))}, at);
  if (const Json* text = find_field(body, "sval")) return make(ast::Literal{Kind::Text, std::string(text_field(*text, "sval"))}, at);
  if (const Json* truth = find_field(body, "boolval")) {
    return make(ast::Literal{Kind::Boolean, flag(*truth, "boolval") ? "true" : "false"}, at);
  }
  // X'0aff' is bytes; the only other kind is B'101'.
  const std::string_view bits = text_field(body.at("bsval"), "bsval");
  if (!bits.starts_with('x')) refuse("A bit string", at);
  ast::Cast bytes;
  bytes.operand = make(ast::Literal{Kind::Text, "\\" + std::string(bits)}, at);
  bytes.type.name = "blob";
  bytes.type.position = at;
  return make(std::move(bytes), at);
}

// DATE '...' has no location: it starts with the type.
ast::ExpressionPtr TreeConverter::cast(const Json& body) {
  ast::Cast result;
  result.operand = expression(body.at("arg"));
  result.type = type_name(body.at("typeName"));
  const int64_t at = position(body);
  const size_t token = at < 0 ? tokens_.size() : token_at(at);
  const bool is_try = token < tokens_.size() && is_word(text_, tokens_[token], "try_cast");
  ast::ExpressionPtr plain = make(std::move(result), at < 0 ? position(body.at("typeName")) : at);
  if (!is_try) return plain;
  ast::Call tried;
  tried.name = "try_cast";
  tried.arguments.push_back(std::move(plain));
  return make(std::move(tried), at);
}

ast::TypeName TreeConverter::type_name(const Json& body) {
  ast::TypeName result;
  result.position = position(body);
  if (flag(body, "setof")) refuse("SETOF", result.position);
  if (flag(body, "pct_type")) refuse("%TYPE", result.position);
  if (find_field(body, "arrayBounds") != nullptr) refuse("An array type", result.position);
  std::vector<std::string> parts = names(find_field(body, "names"));
  if (parts.size() == 2 && parts.front() == "pg_catalog") parts.erase(parts.begin());
  if (parts.size() != 1) refuse("A type with a schema name", result.position);
  result.name = parts.front();
  for (const auto& [postgres, ours] : type_names) {
    if (result.name == postgres) {
      result.name = ours;
      break;
    }
  }
  if (const Json* modifiers = find_field(body, "typmods")) {
    for (const Json& node : *modifiers) {
      const bool integer = kind_of(node) == "A_Const" && find_field(body_of(node), "ival") != nullptr;
      if (!integer) refuse("A type modifier that is not an integer", result.position);
      const std::string digits = integer_text(body_of(node));
      int64_t value = 0;
      std::from_chars(digits.data(), digits.data() + digits.size(), value);
      result.modifiers.push_back(value);
    }
  }
  if (result.name == "interval") interval_modifiers(result);
  return result;
}

// The first modifier is a set of fields, the second the precision.
void TreeConverter::interval_modifiers(ast::TypeName& type) const {
  if (type.modifiers.empty()) return;
  const int64_t fields = type.modifiers.front();
  type.modifiers.erase(type.modifiers.begin());
  if (fields == all_fields) return;
  for (const auto& [bits, words] : interval_fields) {
    if (fields == bits) type.interval_fields = words;
  }
  ENSURE(!type.interval_fields.empty(), "unknown interval fields {}", fields);
}

}  // namespace pistachio
