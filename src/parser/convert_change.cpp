// Statements that change tables: UPDATE, DELETE, TRUNCATE, ALTER TABLE, RENAME; transactions, schemas and indexes. See tree_converter.h.
// An UPDATE becomes a query that gives each row of the table, whether it is changed, and the values assigned to it; a DELETE the same
// without values. RETURNING becomes a query of the changed rows under the table's name.
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "parser/ast_text.h"
#include "parser/tree_converter.h"

namespace pistachio {

namespace {

// The column of a change's query that says whether the row is changed. No user's column has this name.
constexpr const char* changed_column_name = "\x01changed";
constexpr const char* match_name = "\x01match";

std::string value_name(size_t number) {
  return "\x01value" + std::to_string(number);
}

ast::ExpressionPtr truth(int64_t position) {
  return std::make_unique<ast::Expression>(ast::Expression{ast::Literal{ast::Literal::Kind::Boolean, "true"}, position});
}

}  // namespace

ast::QueryPtr TreeConverter::select_from(ast::Select select, ast::TableReference from) const {
  auto query = std::make_unique<ast::Query>();
  query->position = from.position;
  select.from.push_back(std::make_unique<ast::TableReference>(std::move(from)));
  query->body = std::move(select);
  return query;
}

// RETURNING, over the rows that a statement changed; null without one.
ast::QueryPtr TreeConverter::returning(const Json& body, const Json& relation) {
  const Json* list = find_field(body, "returningList");
  if (list == nullptr) return nullptr;
  ast::Select select;
  for (const Json& node : *list) select.items.push_back(select_item(body_of(node)));
  return select_from(std::move(select), named_table(relation));
}

// SELECT *, (condition) IS TRUE FROM t; without a condition all rows.
ast::QueryPtr TreeConverter::marked_rows(const Json& relation, ast::ExpressionPtr condition) {
  ast::Select select;
  const int64_t at = position(relation);
  select.items.push_back({make(ast::Star{}, at), ""});
  ast::ExpressionPtr changed = condition == nullptr ? truth(at) : std::move(condition);
  const int64_t where = changed->position;
  select.items.push_back({make(ast::Test{ast::Test::Kind::IsTrue, std::move(changed)}, where), changed_column_name});
  return select_from(std::move(select), named_table(relation));
}

// The tables of UPDATE ... FROM or DELETE ... USING. A name that is also the changed table's would hide it.
std::vector<ast::TableReferencePtr> TreeConverter::matched_tables(const Json& list, const std::string& changed) {
  std::vector<ast::TableReferencePtr> tables;
  for (const Json& node : list) {
    tables.push_back(table(node));
    const ast::TableReference& added = *tables.back();
    const auto* named = std::get_if<ast::NamedTable>(&added.node);
    const std::string& shown = added.alias.empty() && named != nullptr ? named->parts.back() : added.alias;
    if (shown == changed) throw UserError("the table name " + changed + " is given twice: give one of them an alias", added.position);
  }
  return tables;
}

std::string TreeConverter::changed_name(const Json& relation) {
  const std::string alias = named_table(relation).alias;
  return alias.empty() ? table_name(relation).back() : alias;
}

// SELECT t.*, match.changed IS TRUE, match.value0, ... FROM t LEFT JOIN LATERAL (SELECT true, value0, ... FROM tables WHERE condition
// LIMIT 1) match ON true: a row that several rows match is changed once, by any of them.
ast::QueryPtr TreeConverter::matched_rows(const Json& body, std::vector<ast::ExpressionPtr> values) {
  const Json& relation = body.at("relation");
  const int64_t at = position(relation);
  ast::TableReference changed = named_table(relation);
  changed.alias = changed_name(relation);
  ast::Select inner;
  inner.items.push_back({truth(at), changed_column_name});
  for (size_t i = 0; i < values.size(); ++i) inner.items.push_back({std::move(values[i]), value_name(i)});
  inner.from = matched_tables(body.at("fromClause"), changed.alias);
  inner.where = optional_expression(find_field(body, "whereClause"));
  auto match = std::make_unique<ast::Query>();
  match->position = at;
  match->limit = make(ast::Literal{ast::Literal::Kind::Number, "1"}, at);
  const size_t count = inner.items.size() - 1;
  match->body = std::move(inner);

  ast::Select outer;
  outer.items.push_back({make(ast::Star{.qualifier = {changed.alias}}, at), ""});
  ast::ExpressionPtr found = make(ast::ColumnName{{match_name, changed_column_name}}, at);
  outer.items.push_back({make(ast::Test{ast::Test::Kind::IsTrue, std::move(found)}, at), changed_column_name});
  for (size_t i = 0; i < count; ++i) outer.items.push_back({make(ast::ColumnName{{match_name, value_name(i)}}, at), value_name(i)});
  ast::JoinTable join;
  join.kind = ast::JoinTable::Kind::Left;
  join.condition = truth(at);
  join.left = std::make_unique<ast::TableReference>(std::move(changed));
  join.right = std::make_unique<ast::TableReference>();
  join.right->node = ast::SubqueryTable{std::move(match), true};
  join.right->alias = match_name;
  join.right->position = at;
  ast::TableReference joined;
  joined.node = std::move(join);
  joined.position = at;
  return select_from(std::move(outer), std::move(joined));
}

// SELECT *, changed, CASE WHEN changed THEN value END, ... FROM (the marked rows of t) t: only changed rows may raise errors.
ast::QueryPtr TreeConverter::assigned_rows(const Json& body, std::vector<ast::ExpressionPtr> values) {
  const Json& relation = body.at("relation");
  ast::TableReference marked;
  marked.node = ast::SubqueryTable{marked_rows(relation, optional_expression(find_field(body, "whereClause"))), false};
  marked.alias = changed_name(relation);
  marked.position = position(relation);
  ast::Select select;
  select.items.push_back({make(ast::Star{}, marked.position), ""});
  for (ast::ExpressionPtr& value : values) {
    const int64_t at = value->position;
    ast::Case assigned;
    assigned.whens.push_back({make(ast::ColumnName{{changed_column_name}}, at), std::move(value)});
    select.items.push_back({make(std::move(assigned), at), ""});
  }
  return select_from(std::move(select), std::move(marked));
}

ast::Update TreeConverter::update(const Json& body) {
  const Json& relation = body.at("relation");
  if (find_field(body, "withClause") != nullptr) refuse("WITH before UPDATE", position_of({"with"}));
  ast::Update result;
  result.table = table_name(relation);
  std::vector<ast::ExpressionPtr> values;
  for (const Json& node : body.at("targetList")) {
    const Json& target = body_of(node);
    if (find_field(target, "indirection") != nullptr) refuse("A subscript or field of a column", position(target));
    const Json& value = target.at("val");
    if (kind_of(value) == "MultiAssignRef") refuse("(a, b) = ... in UPDATE", position(target));
    result.columns.push_back(name(text_field(target, "name")));
    result.sets_default.push_back(kind_of(value) == "SetToDefault");
    values.push_back(result.sets_default.back() ? make(ast::Literal{}, position(target)) : expression(value));
  }
  result.query = find_field(body, "fromClause") != nullptr ? matched_rows(body, std::move(values)) : assigned_rows(body, std::move(values));
  result.returning = returning(body, relation);
  return result;
}

ast::Delete TreeConverter::delete_rows(const Json& body) {
  const Json& relation = body.at("relation");
  if (find_field(body, "withClause") != nullptr) refuse("WITH before DELETE", position_of({"with"}));
  ast::Delete result;
  result.table = table_name(relation);
  ast::ExpressionPtr condition = optional_expression(find_field(body, "whereClause"));
  if (const Json* tables = find_field(body, "usingClause")) {
    const int64_t at = position(relation);
    ast::Select matching;
    matching.items.push_back({truth(at), ""});
    matching.from = matched_tables(*tables, changed_name(relation));
    matching.where = std::move(condition);
    auto query = std::make_unique<ast::Query>();
    query->position = at;
    query->body = std::move(matching);
    condition = make(ast::Subquery{.kind = ast::Subquery::Kind::Exists, .query = std::move(query)}, at);
  }
  result.query = marked_rows(relation, std::move(condition));
  result.returning = returning(body, relation);
  return result;
}

ast::Truncate TreeConverter::truncate(const Json& body) {
  if (text_field(body, "behavior") == "DROP_CASCADE") refuse("CASCADE", position_of({"cascade"}));
  ast::Truncate result;
  for (const Json& node : body.at("relations")) result.tables.push_back(table_name(body_of(node)));
  return result;
}

ast::AlterTable TreeConverter::rename(const Json& body) {
  using Kind = ast::AlterTable::Kind;
  const std::string_view kind = text_field(body, "renameType");
  if (kind != "OBJECT_COLUMN" && kind != "OBJECT_TABLE" && kind != "OBJECT_VIEW") refuse(statement_words(0), tokens_.front().begin);
  ast::AlterTable result;
  result.table = table_name(body.at("relation"));
  result.kind = kind == "OBJECT_COLUMN" ? Kind::RenameColumn : kind == "OBJECT_TABLE" ? Kind::RenameTable : Kind::RenameView;
  result.column = name(text_field(body, "subname"));
  result.new_name = name(text_field(body, "newname"));
  result.if_exists = flag(body, "missing_ok");
  return result;
}

std::vector<ast::AlterTable> TreeConverter::alter_table(const Json& body) {
  if (text_field(body, "objtype") != "OBJECT_TABLE") refuse(statement_words(0), tokens_.front().begin);
  std::vector<ast::AlterTable> changes;
  for (const Json& node : body.at("cmds")) {
    ast::AlterTable change = alter_command(body_of(node));
    change.table = table_name(body.at("relation"));
    change.if_exists = flag(body, "missing_ok");
    changes.push_back(std::move(change));
  }
  return changes;
}

ast::AlterTable TreeConverter::alter_command(const Json& command) {
  using Kind = ast::AlterTable::Kind;
  const std::string_view kind = text_field(command, "subtype");
  const int64_t at = tokens_.front().begin;
  if (text_field(command, "behavior") == "DROP_CASCADE") refuse("CASCADE", position_of({"cascade"}));
  ast::AlterTable result;
  result.column = name(text_field(command, "name"));
  result.missing_ok = flag(command, "missing_ok");
  const Json* definition = find_field(command, "def");
  if (kind == "AT_AddColumn") {
    result.kind = Kind::AddColumn;
    result.definition = column_definition(body_of(*definition));
  } else if (kind == "AT_DropColumn") {
    result.kind = Kind::DropColumn;
  } else if (kind == "AT_ColumnDefault") {
    result.kind = definition == nullptr ? Kind::DropDefault : Kind::SetDefault;
    if (definition != nullptr) result.definition.default_value = expression(*definition);
  } else if (kind == "AT_SetNotNull") {
    result.kind = Kind::SetNotNull;
  } else if (kind == "AT_DropNotNull") {
    result.kind = Kind::DropNotNull;
  } else if (kind == "AT_AlterColumnType") {
    const Json& column = body_of(*definition);
    if (find_field(column, "raw_default") != nullptr) refuse("USING of a new type", position_of({"using"}));
    result.kind = Kind::SetType;
    result.definition.type = type_name(column.at("typeName"));
  } else if (kind == "AT_AddConstraint") {
    result.kind = Kind::AddConstraint;
    table_constraint(body_of(*definition), result.rules);
  } else if (kind == "AT_DropConstraint") {
    result.kind = Kind::DropConstraint;
  } else {
    refuse("This change of ALTER TABLE", at);
  }
  return result;
}

ast::CreateIndex TreeConverter::create_index(const Json& body) {
  ast::CreateIndex result;
  result.name = name(text_field(body, "idxname"));
  result.table = table_name(body.at("relation"));
  result.is_unique = flag(body, "unique");
  result.if_not_exists = flag(body, "if_not_exists");
  if (find_field(body, "whereClause") != nullptr) refuse("WHERE of an index", position_of({"where"}));
  for (const Json& node : body.at("indexParams")) {
    const Json& element = body_of(node);
    if (find_field(element, "name") == nullptr) refuse("An index of an expression", tokens_.front().begin);
    result.columns.push_back(name(text_field(element, "name")));
  }
  return result;
}

ast::Transaction TreeConverter::transaction(const Json& body) const {
  const std::string_view kind = text_field(body, "kind");
  if (kind == "TRANS_STMT_BEGIN" || kind == "TRANS_STMT_START") return {ast::Transaction::Kind::Begin};
  if (kind == "TRANS_STMT_COMMIT") return {ast::Transaction::Kind::Commit};
  if (kind == "TRANS_STMT_ROLLBACK") return {ast::Transaction::Kind::Rollback};
  refuse(statement_words(0), tokens_.front().begin);
}

// PRIMARY KEY, UNIQUE or CHECK of a table.
void TreeConverter::table_constraint(const Json& constraint, ast::TableRules& rules) {
  const std::string_view kind = text_field(constraint, "contype");
  const std::string constraint_name = name(text_field(constraint, "conname"));
  if (kind == "CONSTR_CHECK") {
    ast::ExpressionPtr condition = expression(constraint.at("raw_expr"));
    rules.checks.push_back({constraint_name, to_text(*condition)});
  } else if (kind == "CONSTR_PRIMARY" || kind == "CONSTR_UNIQUE") {
    if (find_field(constraint, "indexname") != nullptr) refuse("A constraint with an index", position(constraint));
    rules.keys.push_back({constraint_name, names(find_field(constraint, "keys")), kind == "CONSTR_PRIMARY"});
  } else {
    refuse(constraint_name_of(constraint), position(constraint));
  }
}

}  // namespace pistachio
