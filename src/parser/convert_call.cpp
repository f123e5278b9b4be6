// Function calls and similar syntax: aggregates, current_date, coalesce. See tree_converter.h.
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "parser/tree_converter.h"

namespace pistachio {

// SQL's own syntax (extract, trim, ...) arrives with the schema pg_catalog; no other schema has functions here.
std::string TreeConverter::function_name(const Json& body) const {
  std::vector<std::string> parts = names(find_field(body, "funcname"));
  if (parts.size() == 2 && parts.front() == "pg_catalog") parts.erase(parts.begin());
  if (parts.size() != 1) refuse("A function with a schema name", position(body));
  // PostgreSQL has already put the arguments in the order of strpos: text first, then the substring.
  const bool sql_syntax = text_field(body, "funcformat") == "COERCE_SQL_SYNTAX";
  if (sql_syntax && parts.front() == "position") return "strpos";
  return parts.front();
}

ast::ExpressionPtr TreeConverter::call(const Json& body) {
  if (const Json& written = body.at("funcname"); written.size() == 1) {
    const Marker* marker = marker_of_call(body);
    if (marker != nullptr && marker->kind == Marker::Kind::StarChange) return changed_star(body);
    if (marker != nullptr && marker->kind == Marker::Kind::Braces)
      throw UserError("{...} can only be the value of an option, as in read_csv('a.csv', types = {'a': 'INTEGER'})", marker->position);
    if (text_field(body_of(written.front()), "sval") == "columns") return columns_call(body);
  }
  if (flag(body, "func_variadic")) refuse("VARIADIC", position(body));
  ast::Call result;
  result.name = function_name(body);
  const Marker* treatment = nullptr;
  if (const Json* arguments = find_field(body, "args")) {
    for (const Json& argument : *arguments) {
      if (const Marker* found = null_treatment(argument)) {
        treatment = found;
      } else {
        result.arguments.push_back(expression(argument));
      }
    }
  }
  result.star = flag(body, "agg_star");
  result.distinct = flag(body, "agg_distinct");
  result.filter = optional_expression(find_field(body, "agg_filter"));
  result.order_by = order_items(find_field(body, "agg_order"));
  result.within_group = flag(body, "agg_within_group");
  if (const Json* over = find_field(body, "over")) {
    result.over = std::make_unique<ast::WindowDefinition>(window(*over));
    if (!result.over->name.empty()) {  // OVER name
      result.over->base = std::exchange(result.over->name, {});
      result.over->is_reference = true;
    }
  }
  if (treatment != nullptr && result.over == nullptr) throw UserError("IGNORE NULLS and RESPECT NULLS need OVER", treatment->position);
  result.ignore_nulls = treatment != nullptr && treatment->kind == Marker::Kind::IgnoreNulls;
  return make(std::move(result), position(body));
}

ast::ExpressionPtr TreeConverter::call_of_list(const char* name, const Json& body, const char* key) {
  ast::Call result;
  result.name = name;
  result.arguments = expressions(find_field(body, key));
  return make(std::move(result), position(body));
}

// SVFOP_CURRENT_TIMESTAMP_N -> current_timestamp with its precision
ast::ExpressionPtr TreeConverter::value_function(const Json& body) {
  constexpr std::string_view prefix = "SVFOP_";
  std::string_view operation = text_field(body, "op");
  ENSURE(operation.starts_with(prefix), "no value function {}", operation);
  operation.remove_prefix(prefix.size());
  ast::Call result;
  if (operation.ends_with("_N")) {
    operation.remove_suffix(2);
    result.arguments.push_back(
        make(ast::Literal{ast::Literal::Kind::Number, std::to_string(integer_field(body, "typmod"))}, position(body)));
  }
  result.name = lower_case(operation);
  return make(std::move(result), position(body));
}

}  // namespace pistachio
