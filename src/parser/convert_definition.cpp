// Statements that define, fill and drop tables and views. See tree_converter.h.
#include <array>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "parser/tree_converter.h"

namespace pistachio {

namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 8> constraint_words = {{{"CONSTR_DEFAULT", "DEFAULT of a column"},
                                                                                            {"CONSTR_PRIMARY", "PRIMARY KEY"},
                                                                                            {"CONSTR_UNIQUE", "UNIQUE"},
                                                                                            {"CONSTR_CHECK", "CHECK"},
                                                                                            {"CONSTR_FOREIGN", "A foreign key"},
                                                                                            {"CONSTR_IDENTITY", "GENERATED AS IDENTITY"},
                                                                                            {"CONSTR_GENERATED", "A generated column"},
                                                                                            {"CONSTR_EXCLUSION", "EXCLUDE"}}};

}  // namespace

std::string_view TreeConverter::constraint_name_of(const Json& constraint) const {
  for (const auto& [kind, words] : constraint_words) {
    if (text_field(constraint, "contype") == kind) return words;
  }
  return "This constraint";
}

ast::CreateView TreeConverter::create_view(const Json& body) {
  const Json& view = body.at("view");
  if (position_of({"recursive", "view"}) != tokens_.front().begin) refuse_words({"recursive", "view"});
  if (find_field(body, "options") != nullptr) refuse("WITH (options) of a view", position(view));
  if (text_field(body, "withCheckOption") != "NO_CHECK_OPTION") refuse("WITH CHECK OPTION", position_of({"check", "option"}));
  ast::CreateView result;
  result.name = table_name(view);
  result.temporary = text_field(view, "relpersistence") == "t";
  result.column_aliases = names(find_field(body, "aliases"));
  result.or_replace = flag(body, "replace");
  result.query = query(body.at("query"));
  // The first AS: nothing before the query can contain one.
  for (size_t i = 0; i + 1 < tokens_.size() && result.query_text.empty(); ++i) {
    if (!is_word(text_, tokens_[i], "as")) continue;
    const int64_t begin = tokens_[i + 1].begin;
    result.query_text = text_.substr(static_cast<size_t>(begin), static_cast<size_t>(tokens_.back().end - begin));
  }
  return result;
}

ast::CreateTable TreeConverter::create_table(const Json& body) {
  const Json& relation = body.at("relation");
  const int64_t at = position(relation);
  if (find_field(body, "inhRelations") != nullptr) refuse("INHERITS or PARTITION OF", at);
  if (find_field(body, "partspec") != nullptr) refuse("PARTITION BY", position(body.at("partspec")));
  if (find_field(body, "ofTypename") != nullptr) refuse("A table OF a type", position(body.at("ofTypename")));
  if (find_field(body, "options") != nullptr) refuse("WITH (options) of a table", at);
  if (find_field(body, "tablespacename") != nullptr) refuse("TABLESPACE", position_of({"tablespace"}));
  if (find_field(body, "accessMethod") != nullptr) refuse("USING of a table", at);
  if (text_field(body, "oncommit") != "ONCOMMIT_NOOP") refuse("ON COMMIT", position_of({"on", "commit"}));
  if (text_field(relation, "relpersistence") == "u") refuse_words({"unlogged"});
  ast::CreateTable result;
  result.name = table_name(relation);
  result.temporary = text_field(relation, "relpersistence") == "t";
  result.if_not_exists = flag(body, "if_not_exists");
  const Json* elements = find_field(body, "tableElts");
  if (elements == nullptr) throw UserError("a table needs at least one column", at);
  for (const Json& node : *elements) {
    const std::string_view kind = kind_of(node);
    if (kind == "Constraint") {
      table_constraint(body_of(node), result.rules);
      continue;
    }
    if (kind != "ColumnDef") refuse("LIKE of another table", at);
    result.columns.push_back(column_definition(body_of(node)));
    if (const Json* constraints = find_field(body_of(node), "constraints"))
      column_rules(*constraints, result.columns.back().name, result.rules);
  }
  return result;
}

ast::ColumnDefinition TreeConverter::column_definition(const Json& body) {
  ast::ColumnDefinition result;
  result.name = name(text_field(body, "colname"));
  result.position = position(body);
  result.type = type_name(body.at("typeName"));
  if (const Json* collation = find_field(body, "collClause")) {
    if (names(find_field(*collation, "collname")) != std::vector<std::string>{"C"})
      refuse("This collation (only \"C\")", position(*collation));
  }
  for (const char* key : {"storage_name", "compression", "fdwoptions"}) {
    if (find_field(body, key) != nullptr) refuse("An option of a column", result.position);
  }
  if (const Json* constraints = find_field(body, "constraints")) {
    for (const Json& node : *constraints) {
      const Json& constraint = body_of(node);
      const std::string_view kind = text_field(constraint, "contype");
      if (kind == "CONSTR_NOTNULL") {
        result.not_null = true;
      } else if (kind == "CONSTR_DEFAULT") {
        result.default_value = expression(constraint.at("raw_expr"));
      } else if (kind != "CONSTR_NULL" && kind != "CONSTR_CHECK" && kind != "CONSTR_PRIMARY" && kind != "CONSTR_UNIQUE") {
        refuse(constraint_name_of(constraint), position(constraint));
      }
    }
  }
  return result;
}

// PRIMARY KEY, UNIQUE and CHECK behind a column.
void TreeConverter::column_rules(const Json& constraints, const std::string& column, ast::TableRules& rules) {
  for (const Json& node : constraints) {
    const Json& constraint = body_of(node);
    const std::string_view kind = text_field(constraint, "contype");
    const bool is_primary = kind == "CONSTR_PRIMARY";
    if (is_primary || kind == "CONSTR_UNIQUE") rules.keys.push_back({name(text_field(constraint, "conname")), {column}, is_primary});
    if (kind == "CONSTR_CHECK") table_constraint(constraint, rules);
  }
}

ast::CreateTable TreeConverter::create_table_as(const Json& body) {
  const Json& into = body.at("into");
  const Json& relation = into.at("rel");
  const int64_t at = position(relation);
  if (kind_of(body.at("query")) == "ExecuteStmt") refuse("EXECUTE", position_of({"execute"}));
  if (flag(into, "skipData")) refuse("WITH NO DATA", position_of({"no", "data"}));
  if (find_field(into, "options") != nullptr) refuse("WITH (options) of a table", at);
  if (find_field(into, "tableSpaceName") != nullptr) refuse("TABLESPACE", position_of({"tablespace"}));
  if (find_field(into, "accessMethod") != nullptr) refuse("USING of a table", at);
  if (text_field(into, "onCommit") != "ONCOMMIT_NOOP") refuse("ON COMMIT", position_of({"on", "commit"}));
  if (text_field(relation, "relpersistence") == "u") refuse_words({"unlogged"});
  ast::CreateTable result;
  result.name = table_name(relation);
  result.temporary = text_field(relation, "relpersistence") == "t";
  result.if_not_exists = flag(body, "if_not_exists");
  result.column_aliases = names(find_field(into, "colNames"));
  result.query = query(body.at("query"));
  return result;
}

ast::Insert TreeConverter::insert(const Json& body) {
  const Json& relation = body.at("relation");
  if (find_field(body, "withClause") != nullptr) refuse("WITH before INSERT (write it after the table name)", position_of({"with"}));
  if (find_field(body, "onConflictClause") != nullptr) refuse("ON CONFLICT", position(body.at("onConflictClause")));
  if (text_field(body, "override") != "OVERRIDING_NOT_SET") refuse("OVERRIDING", position_of({"overriding"}));
  if (find_field(relation, "alias") != nullptr) refuse("An alias of the table in INSERT", position(relation));
  ast::Insert result;
  result.table = table_name(relation);
  if (const Json* columns = find_field(body, "cols")) {
    for (const Json& node : *columns) {
      const Json& target = body_of(node);
      if (find_field(target, "indirection") != nullptr) refuse("A subscript or field of a column", position(target));
      result.columns.push_back(name(text_field(target, "name")));
    }
  }
  if (const Json* rows = find_field(body, "selectStmt")) result.query = query(*rows);
  result.returning = returning(body, relation);
  return result;
}

ast::Drop TreeConverter::drop(const Json& body) {
  const std::string_view kind = text_field(body, "removeType");
  using Kind = ast::Drop::Kind;
  const bool is_schema = kind == "OBJECT_SCHEMA";
  if (kind != "OBJECT_TABLE" && kind != "OBJECT_VIEW" && kind != "OBJECT_INDEX" && !is_schema)
    refuse(statement_words(0), tokens_.front().begin);
  if (text_field(body, "behavior") == "DROP_CASCADE") refuse("CASCADE", position_of({"cascade"}));
  ast::Drop result;
  result.kind = kind == "OBJECT_TABLE" ? Kind::Table : kind == "OBJECT_VIEW" ? Kind::View : is_schema ? Kind::Schema : Kind::Index;
  result.if_exists = flag(body, "missing_ok");
  for (const Json& node : body.at("objects")) {
    result.names.push_back(is_schema ? std::vector<std::string>{name_of_node(node)} : names(find_field(body_of(node), "items")));
  }
  return result;
}

}  // namespace pistachio
