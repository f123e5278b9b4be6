// FROM: tables, files, functions, subqueries, joins. See tree_converter.h.
#include <optional>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "parser/tree_converter.h"

namespace pistachio {

namespace {

bool is_join_without_alias(const Json& node) {
  return kind_of(node) == "JoinExpr" && find_field(body_of(node), "alias") == nullptr;
}

}  // namespace

ast::TableReferencePtr TreeConverter::table(const Json& node) {
  const Descent descent(*this, 1, 1);
  return kind_of(node) == "JoinExpr" ? join(node) : join_leaf(node);
}

ast::TableReferencePtr TreeConverter::join_leaf(const Json& node) {
  const std::string_view kind = kind_of(node);
  ENSURE(!kind.empty(), "a table without a node");
  const Json& body = body_of(node);
  const auto make_table = [](ast::TableReference reference) { return std::make_unique<ast::TableReference>(std::move(reference)); };
  if (kind == "RangeVar") return make_table(named_table(body));
  if (kind == "RangeFunction") return make_table(table_function(body));
  if (kind == "RangeSubselect") return make_table(subquery_table(body));
  if (kind == "JoinExpr") return table(node);
  if (kind == "RangeTableSample") refuse_words({"tablesample"});
  if (kind == "RangeTableFunc") refuse_words({"xmltable"});
  refuse("This kind of table", position(body));
}

// a JOIN b JOIN c is deep on its left side: descend in a loop, then build upwards.
ast::TableReferencePtr TreeConverter::join(const Json& node) {
  std::vector<const Json*> chain = {&body_of(node)};
  while (is_join_without_alias(chain.back()->at("larg"))) chain.push_back(&body_of(chain.back()->at("larg")));
  const Descent descent(*this, 0, static_cast<int64_t>(chain.size()));
  ast::TableReferencePtr result = join_leaf(chain.back()->at("larg"));
  std::optional<ast::JoinTable::Kind> word;  // SEMI or ANTI before the next join; the rewritten statement has it as a separate join
  for (size_t i = chain.size(); i-- > 0;) {
    std::optional<ast::JoinTable::Kind> next_word = join_word(chain[i]->at("rarg"));
    if (!next_word) result = one_join(*chain[i], std::move(result), word);
    word = next_word;
  }
  return result;
}

std::optional<ast::JoinTable::Kind> TreeConverter::join_word(const Json& right) const {
  if (kind_of(right) != "RangeVar") return std::nullopt;
  const Marker* marker = rewritten_.find_marker(text_field(body_of(right), "relname"));
  if (marker != nullptr && marker->kind == Marker::Kind::SemiJoin) return ast::JoinTable::Kind::Semi;
  if (marker != nullptr && marker->kind == Marker::Kind::AntiJoin) return ast::JoinTable::Kind::Anti;
  return std::nullopt;
}

ast::TableReferencePtr TreeConverter::one_join(const Json& body, ast::TableReferencePtr left, std::optional<ast::JoinTable::Kind> word) {
  using Kind = ast::JoinTable::Kind;
  const std::string_view kind = text_field(body, "jointype");
  ast::TableReference result;
  result.position = left->position;
  if (const Json* using_alias = find_field(body, "join_using_alias")) {
    refuse("An alias of USING (" + name(text_field(*using_alias, "aliasname")) + ")", result.position);
  }
  ast::JoinTable join;
  join.natural = flag(body, "isNatural");
  join.using_columns = names(find_field(body, "usingClause"));
  join.left = std::move(left);
  join.right = table(body.at("rarg"));
  join.condition = optional_expression(find_field(body, "quals"));
  const bool unconditional = !join.natural && join.using_columns.empty() && join.condition == nullptr;
  join.kind = kind == "JOIN_LEFT"    ? Kind::Left
              : kind == "JOIN_RIGHT" ? Kind::Right
              : kind == "JOIN_FULL"  ? Kind::Full
              : unconditional        ? Kind::Cross
                                     : Kind::Inner;
  if (word) join.kind = *word;
  result.node = std::move(join);
  alias(body, result);
  return std::make_unique<ast::TableReference>(std::move(result));
}

void TreeConverter::alias(const Json& body, ast::TableReference& result) {
  const Json* alias = find_field(body, "alias");
  if (alias == nullptr) return;
  const Marker* marker = rewritten_.find_marker(text_field(*alias, "aliasname"));
  if (marker != nullptr && marker->kind == Marker::Kind::NoAlias) return;
  result.alias = name(text_field(*alias, "aliasname"));
  result.column_aliases = names(find_field(*alias, "colnames"));
}

std::vector<std::string> TreeConverter::table_name(const Json& range_variable) const {
  std::vector<std::string> parts;
  for (const char* key : {"catalogname", "schemaname", "relname"}) {
    if (find_field(range_variable, key) != nullptr) parts.push_back(name(text_field(range_variable, key)));
  }
  return parts;
}

ast::TableReference TreeConverter::named_table(const Json& body) {
  ast::TableReference result;
  result.position = position(body);
  if (!flag(body, "inh")) refuse("ONLY", result.position);
  const Marker* marker = rewritten_.find_marker(text_field(body, "relname"));
  if (marker != nullptr && marker->kind == Marker::Kind::File && find_field(body, "schemaname") == nullptr) {
    result.node = ast::FileTable{marker->value};
  } else {
    result.node = ast::NamedTable{table_name(body)};
  }
  alias(body, result);
  return result;
}

// The tree has a list of functions with column definitions, for ROWS FROM, which is not supported.
ast::TableReference TreeConverter::table_function(const Json& body) {
  if (flag(body, "is_rowsfrom")) refuse_words({"rows", "from"});
  if (flag(body, "ordinality")) refuse_words({"with", "ordinality"});
  const Json& node = body_of(body.at("functions")[0]).at("items")[0];
  const Json& function = body_of(node);
  ast::TableReference result;
  result.position = position(function);
  if (find_field(body, "coldeflist") != nullptr) refuse("A column definition list", result.position);
  if (kind_of(node) != "FuncCall") refuse("This function in FROM", result.position);
  for (const char* key : {"agg_star", "agg_distinct", "agg_order", "agg_filter", "agg_within_group", "over", "func_variadic"}) {
    if (find_field(function, key) != nullptr) refuse("An aggregate or window function in FROM", result.position);
  }
  ast::TableFunction table;
  table.name = function_name(function);
  if (const Json* arguments = find_field(function, "args")) {
    for (const Json& argument : *arguments) {
      if (std::optional<ast::TableOption> option = table_option(argument, table.name)) {
        table.options.push_back(std::move(*option));
      } else if (!table.options.empty()) {
        throw UserError("an argument without a name follows one with a name", position(body_of(argument)));
      } else if (kind_of(argument) == "A_ArrayExpr" && table.arguments.empty()) {
        // read_parquet(ARRAY['a', 'b']) means the same as read_parquet('a', 'b').
        table.arguments = expressions(find_field(body_of(argument), "elements"));
      } else {
        table.arguments.push_back(expression(argument));
      }
    }
  }
  result.node = std::move(table);
  alias(body, result);
  return result;
}

// Of the functions that read files; elsewhere a = b is a comparison.
std::optional<ast::TableOption> TreeConverter::table_option(const Json& node, const std::string& function) {
  if (!function.starts_with("read_")) return std::nullopt;
  const Json& body = body_of(node);
  ast::TableOption option;
  const Json* value = nullptr;
  if (kind_of(node) == "NamedArgExpr") {
    option.name = lower_case(name(text_field(body, "name")));
    option.position = position(body);
    value = &body.at("arg");
  } else if (kind_of(node) == "A_Expr" && text_field(body, "kind") == "AEXPR_OP" && is_option_equation(body)) {
    const Json& column = body_of(body.at("lexpr"));
    option.name = lower_case(name_of_node(column.at("fields")[0]));
    option.position = position(column);
    value = &body.at("rexpr");
  } else {
    return std::nullopt;
  }
  add_option_values(*value, option);
  return option;
}

// name = value
bool TreeConverter::is_option_equation(const Json& body) const {
  const std::vector<std::string> operation = names(find_field(body, "name"));
  const Json* left = find_field(body, "lexpr");
  if (operation.size() != 1 || operation[0] != "=" || left == nullptr || kind_of(*left) != "ColumnRef") return false;
  const Json& fields = body_of(*left).at("fields");
  return fields.size() == 1 && kind_of(fields[0]) == "String";
}

void TreeConverter::add_option_values(const Json& value, ast::TableOption& option) {
  const Json& body = body_of(value);
  if (kind_of(value) == "A_ArrayExpr") {
    option.is_list = true;
    option.values = expressions(find_field(body, "elements"));
    return;
  }
  const Marker* marker = kind_of(value) == "FuncCall" ? marker_of_call(body) : nullptr;
  if (marker == nullptr || marker->kind != Marker::Kind::Braces) {
    option.values.push_back(expression(value));
    return;
  }
  const Json* items = find_field(body, "args");
  for (size_t i = 0; items != nullptr && i + 1 < items->size(); i += 2) {
    ast::ExpressionPtr key = expression((*items)[i]);
    const auto* text = std::get_if<ast::Literal>(&key->node);
    if (text == nullptr || text->kind != ast::Literal::Kind::Text) throw UserError("a name in {...} is no text", key->position);
    option.keys.push_back(text->text);
    option.values.push_back(expression((*items)[i + 1]));
  }
}

ast::TableReference TreeConverter::subquery_table(const Json& body) {
  ast::TableReference result;
  ast::SubqueryTable table;
  table.query = query(body.at("subquery"));
  table.lateral = flag(body, "lateral");
  result.position = table.query->position;
  result.node = std::move(table);
  alias(body, result);
  return result;
}

}  // namespace pistachio
