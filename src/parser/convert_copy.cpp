// COPY. TO keeps its query; with PARTITION_BY, the query is ordered by these columns, so that one file after the other is written. FROM
// becomes INSERT INTO table SELECT * FROM 'file'.
#include <string_view>
#include <utility>

#include "base/error.h"
#include "parser/tree_converter.h"

namespace pistachio {

namespace {

// A string, a word or true; numbers are read from the text.
std::string option_word(const Json& node) {
  const std::string_view kind = kind_of(node);
  const Json& body = body_of(node);
  if (kind == "Float") return std::string(text_field(body, "fval"));
  if (kind == "Boolean") return flag(body, "boolval") ? "true" : "false";
  return kind == "A_Star" ? "*" : std::string(text_field(body, "sval"));
}

}  // namespace

// libpg_query omits integers that are not positive: these are read from the text behind the option's name.
std::string TreeConverter::copy_value(const Json& node, int64_t option_position) const {
  if (kind_of(node) != "Integer") return option_word(node);
  const int64_t value = integer_field(body_of(node), "ival");
  if (value != 0 || option_position < 0) return std::to_string(value);
  std::string text;
  for (size_t i = token_at(option_position) + 1; i < tokens_.size() && tokens_[i].kind != Token::Kind::Number; ++i)
    text = token_text(text_, tokens_[i]) == "-" ? "-" : "";
  for (size_t i = token_at(option_position) + 1; i < tokens_.size(); ++i) {
    if (tokens_[i].kind == Token::Kind::Number) return text + std::string(token_text(text_, tokens_[i]));
  }
  return "0";
}

ast::Copy::Option TreeConverter::copy_option(const Json& body) const {
  ast::Copy::Option option;
  option.name = text_field(body, "defname");
  const Json* value = find_field(body, "arg");
  if (value == nullptr) return option;
  if (kind_of(*value) == "List") {
    for (const Json& item : body_of(*value).at("items")) option.values.push_back(option_word(item));
  } else {
    option.values.push_back(copy_value(*value, position(body)));
  }
  return option;
}

void TreeConverter::copy(const Json& body, ast::Statement& result) {
  if (flag(body, "is_program")) refuse("COPY with PROGRAM", position_of({"program"}));
  if (find_field(body, "filename") == nullptr) {
    refuse("COPY with STDIN or STDOUT (--format writes results to the standard output)",
           position_of({flag(body, "is_from") ? "stdin" : "stdout"}));
  }
  std::vector<ast::Copy::Option> options;
  if (const Json* list = find_field(body, "options")) {
    for (const Json& node : *list) options.push_back(copy_option(body_of(node)));
  }
  if (flag(body, "is_from")) {
    result.node = copy_from(body, options);
  } else {
    result.node = copy_to(body, std::move(options));
  }
}

// As a table function with the same options.
ast::TableFunction TreeConverter::copied_file(std::string path, const std::vector<ast::Copy::Option>& options, int64_t at) {
  ast::TableFunction result;
  result.is_copy = true;
  std::string format;
  for (const ast::Copy::Option& option : options) {
    if (option.name == "format") {
      format = option.values.size() == 1 ? lower_case(option.values[0]) : "";
      if (format != "csv" && format != "json" && format != "arrow" && format != "parquet")
        throw UserError("FORMAT of COPY FROM is csv, json, arrow or parquet", position_of({"format"}));
      continue;
    }
    ast::TableOption made;
    made.name = lower_case(option.name);
    made.position = position_of({option.name});
    for (const std::string& value : option.values)
      made.values.push_back(make(ast::Literal{ast::Literal::Kind::Text, value}, made.position));
    made.is_list = option.values.size() > 1;
    result.options.push_back(std::move(made));
  }
  const std::string lower = lower_case(path);
  auto has = [&](std::string_view part) { return lower.find(part) != std::string::npos; };
  if (format.empty()) {
    format = has(".parquet")                    ? "parquet"
             : has(".json") || has(".ndjson")   ? "json"
             : has(".csv") || has(".tsv")       ? "csv"
             : has(".arrow") || has(".feather") ? "arrow"
                                                : "";
  }
  if (format.empty()) throw UserError("the format of " + path + " is unknown: add (FORMAT csv), json, arrow or parquet", at);
  result.name = "read_" + format;
  result.arguments.push_back(make(ast::Literal{ast::Literal::Kind::Text, std::move(path)}, at));
  return result;
}

ast::Insert TreeConverter::copy_from(const Json& body, const std::vector<ast::Copy::Option>& options) {
  if (find_field(body, "whereClause") != nullptr) refuse("WHERE in COPY (use INSERT INTO ... SELECT)", position_of({"where"}));
  ast::Insert result;
  result.table = table_name(body.at("relation"));
  if (const Json* columns = find_field(body, "attlist")) {
    for (const Json& node : *columns) result.columns.push_back(name_of_node(node));
  }
  ast::TableReference file;
  file.position = position_of({"from"});
  file.node = copied_file(std::string(text_field(body, "filename")), options, file.position);
  ast::Select select;
  select.items.push_back({make(ast::Star{}, file.position), ""});
  result.query = select_from(std::move(select), std::move(file));
  return result;
}

ast::QueryPtr TreeConverter::copied_query(const Json& body) {
  if (const Json* own = find_field(body, "query")) {
    if (kind_of(*own) != "SelectStmt") throw UserError("COPY takes a query or a table", position_of({"copy"}));
    return query(*own);
  }
  const Json& relation = body.at("relation");
  ast::Select select;
  if (const Json* columns = find_field(body, "attlist")) {
    for (const Json& node : *columns) select.items.push_back({make(ast::ColumnName{{name_of_node(node)}}, position(relation)), ""});
  } else {
    select.items.push_back({make(ast::Star{}, position(relation)), ""});
  }
  return select_from(std::move(select), named_table(relation));
}

ast::Copy TreeConverter::copy_to(const Json& body, std::vector<ast::Copy::Option> options) {
  ast::Copy result;
  result.path = text_field(body, "filename");
  result.query = copied_query(body);
  for (ast::Copy::Option& option : options) {
    if (option.name == "partition_by") {
      if (!result.partition_by.empty() || option.values.empty())
        throw UserError("PARTITION_BY of COPY takes one list of columns", position_of({"partition_by"}));
      result.partition_by = std::move(option.values);
    } else {
      result.options.push_back(std::move(option));
    }
  }
  if (result.partition_by.empty()) return result;
  ast::TableReference rows;
  rows.position = result.query->position;
  rows.alias = "copied";
  rows.node = ast::SubqueryTable{std::move(result.query), false};
  ast::Select select;
  select.items.push_back({make(ast::Star{}, rows.position), ""});
  const int64_t at = rows.position;
  result.query = select_from(std::move(select), std::move(rows));
  for (const std::string& column : result.partition_by) result.query->order_by.push_back({make(ast::ColumnName{{column}}, at)});
  return result;
}

}  // namespace pistachio
