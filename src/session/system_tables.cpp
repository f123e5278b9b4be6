// information_schema and pg_catalog: tables that describe the session's tables and views, made when a statement reads them.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/error.h"
#include "columns/scalar_access.h"
#include "parser/ast_text.h"
#include "session/answer_rows.h"
#include "session/session.h"

namespace pistachio {

namespace {

constexpr const char* kCatalog = "pistachio";
constexpr const char* kMainSchema = "main";

ScalarValue whole_value(int64_t value) {
  return ScalarValue::of_integer(TypeKind::BigInt, value);
}

ScalarValue truth_value(bool value) {
  return ScalarValue::of_integer(TypeKind::Boolean, value ? 1 : 0);
}

ScalarValue no_text() {
  return ScalarValue::null(TypeKind::Varchar);
}

// Rows of one of these tables while it is made.
struct SystemRows {
  std::vector<TableColumnInfo> columns;
  std::vector<std::vector<ScalarValue>> rows;

  void add_columns(LogicalType type, std::initializer_list<const char*> names) {
    for (const char* name : names) columns.push_back({name, type, ""});
  }

  TablePtr as_table(const std::string& name) const {
    std::vector<Column> made;
    for (size_t i = 0; i < columns.size(); ++i) {
      std::vector<ScalarValue> cells;
      for (const std::vector<ScalarValue>& row : rows) cells.push_back(row[i]);
      made.push_back(column_of_values(columns[i].type, cells));
    }
    std::vector<Chunk> chunks;
    if (!rows.empty()) chunks.emplace_back(std::move(made), static_cast<int64_t>(rows.size()));
    return Table::of_chunks(name, columns, std::move(chunks), {});
  }
};

constexpr int64_t kFirstRelation = 16384;  // PostgreSQL's first id that is not its own

int64_t namespace_id(const std::vector<std::string>& schemas, const std::string& schema) {
  return std::find(schemas.begin(), schemas.end(), schema) - schemas.begin() + 1;
}

}  // namespace

bool Session::has_schema(const std::string& name) {
  return catalog_.schemas.contains(name) || name == "information_schema" || name == "pg_catalog";
}

class Session::SystemTables {
 public:
  explicit SystemTables(Session& session) : session_(session), catalog_(session.catalog_) {}

  // Null if there is none of this name.
  TablePtr find(const std::vector<std::string>& parts) {
    const std::string& name = parts.back();
    if (parts.size() == 2 && parts[0] == "information_schema") return standard_table(name);
    const bool is_catalog = parts.size() == 2 ? parts[0] == "pg_catalog" : name.starts_with("pg_");
    return is_catalog ? postgres_table(name) : nullptr;
  }

 private:
  struct Relation {
    std::string schema;
    std::string name;
    std::string key;  // as in the catalog
    bool is_view = false;
    std::string definition;  // of a view
    std::vector<TableColumnInfo> columns;
  };
  std::vector<std::string> schema_names() const;
  std::vector<Relation> relations();
  TablePtr standard_table(const std::string& name);
  TablePtr postgres_table(const std::string& name);
  TablePtr namespaces();
  TablePtr databases();
  TablePtr types();
  TablePtr tables_or_views(const std::string& name);
  TablePtr classes();
  TablePtr attributes();
  ScalarValue default_text(const std::string& table, const std::string& column) const;

  Session& session_;
  const SessionCatalog& catalog_;
};

TablePtr Session::find_system_table(const std::vector<std::string>& parts) {
  return SystemTables(*this).find(parts);
}

std::vector<std::string> Session::SystemTables::schema_names() const {
  std::vector<std::string> names = {kMainSchema, "information_schema", "pg_catalog"};
  names.insert(names.end(), catalog_.schemas.begin(), catalog_.schemas.end());
  return names;
}

// Tables first, then views, each by name. Columns of views are known by binding them; a view that reads these tables itself is left out
// then.
std::vector<Session::SystemTables::Relation> Session::SystemTables::relations() {
  std::vector<Relation> found;
  auto add = [&](const std::string& key, bool is_view) -> Relation& {
    const size_t point = key.find('.');
    const bool has_schema = point != std::string::npos && catalog_.schemas.contains(key.substr(0, point));
    Relation& relation = found.emplace_back();
    relation.schema = has_schema ? key.substr(0, point) : kMainSchema;
    relation.name = has_schema ? key.substr(point + 1) : key;
    relation.key = key;
    relation.is_view = is_view;
    return relation;
  };
  for (const auto& [name, table] : catalog_.tables) add(name, false).columns = table->columns();
  for (const auto& [name, path] : session_.folder_tables_) {
    if (!catalog_.tables.contains(name) && !catalog_.views.contains(name)) add(name, false).columns = session_.find_table(name)->columns();
  }
  if (std::exchange(session_.lists_views_, true)) return found;
  try {
    for (const auto& [name, view] : catalog_.views) {
      Relation& relation = add(name, true);
      const LogicalPlan bound = bind_query(*view.query, session_, {.token = session_.token_});
      for (size_t i = 0; i < bound.output.size(); ++i) {
        const bool is_renamed = i < view.column_aliases.size();
        relation.columns.push_back(
            {is_renamed ? view.column_aliases[i] : bound.output[i].name, bound.columns.type(bound.output[i].id), ""});
      }
      relation.definition = std::get<ast::CreateView>(view.statement->node).query_text;
    }
  } catch (...) {
    session_.lists_views_ = false;
    throw;
  }
  session_.lists_views_ = false;
  return found;
}

TablePtr Session::SystemTables::standard_table(const std::string& name) {
  SystemRows made;
  if (name == "schemata") {
    made.add_columns(TypeKind::Varchar, {"catalog_name", "schema_name", "schema_owner"});
    for (const std::string& schema : schema_names()) made.rows.push_back({text_value(kCatalog), text_value(schema), text_value(kCatalog)});
    return made.as_table(name);
  }
  if (name == "tables") {
    made.add_columns(TypeKind::Varchar, {"table_catalog", "table_schema", "table_name", "table_type", "is_insertable_into"});
    for (const Relation& relation : relations()) {
      made.rows.push_back({text_value(kCatalog), text_value(relation.schema), text_value(relation.name),
                           text_value(relation.is_view ? "VIEW" : "BASE TABLE"),
                           text_value(catalog_.tables.contains(relation.key) ? "YES" : "NO")});
    }
    return made.as_table(name);
  }
  if (name == "views") {
    made.add_columns(TypeKind::Varchar, {"table_catalog", "table_schema", "table_name", "view_definition"});
    for (const Relation& relation : relations()) {
      if (relation.is_view)
        made.rows.push_back(
            {text_value(kCatalog), text_value(relation.schema), text_value(relation.name), text_value(relation.definition)});
    }
    return made.as_table(name);
  }
  if (name == "columns") {
    made.add_columns(TypeKind::Varchar, {"table_catalog", "table_schema", "table_name", "column_name"});
    made.add_columns(TypeKind::BigInt, {"ordinal_position"});
    made.add_columns(TypeKind::Varchar, {"column_default", "is_nullable", "data_type"});
    for (const Relation& relation : relations()) {
      for (size_t i = 0; i < relation.columns.size(); ++i) {
        const TableColumnInfo& column = relation.columns[i];
        made.rows.push_back({text_value(kCatalog), text_value(relation.schema), text_value(relation.name), text_value(column.name),
                             whole_value(static_cast<int64_t>(i) + 1), default_text(relation.key, column.name),
                             text_value(column.not_null ? "NO" : "YES"), text_value(column.type.to_string())});
      }
    }
    return made.as_table(name);
  }
  if (name == "table_constraints") {
    made.add_columns(TypeKind::Varchar, {"constraint_catalog", "constraint_name", "table_schema", "table_name", "constraint_type"});
    for (const Relation& relation : relations()) {
      auto rules = catalog_.rules.find(relation.key);
      if (rules == catalog_.rules.end()) continue;
      auto add = [&](const std::string& rule, const char* type) {
        made.rows.push_back({text_value(kCatalog), rule.empty() ? no_text() : text_value(rule), text_value(relation.schema),
                             text_value(relation.name), text_value(type)});
      };
      for (const ast::TableRules::Key& key : rules->second.keys) add(key.name, key.is_primary ? "PRIMARY KEY" : "UNIQUE");
      for (const ast::TableRules::Check& check : rules->second.checks) add(check.name, "CHECK");
    }
    return made.as_table(name);
  }
  return nullptr;
}

ScalarValue Session::SystemTables::default_text(const std::string& table, const std::string& column) const {
  auto rules = catalog_.rules.find(table);
  if (rules == catalog_.rules.end()) return no_text();
  auto value = rules->second.defaults.find(column);
  return value == rules->second.defaults.end() ? no_text() : text_value(without_brackets(to_text(*value->second)));
}

TablePtr Session::SystemTables::postgres_table(const std::string& name) {
  if (name == "pg_namespace") return namespaces();
  if (name == "pg_database") return databases();
  if (name == "pg_type") return types();
  if (name == "pg_tables" || name == "pg_views") return tables_or_views(name);
  if (name == "pg_class") return classes();
  if (name == "pg_attribute") return attributes();
  return nullptr;
}

TablePtr Session::SystemTables::namespaces() {
  SystemRows made;
  made.add_columns(TypeKind::BigInt, {"oid"});
  made.add_columns(TypeKind::Varchar, {"nspname"});
  const std::vector<std::string> schemas = schema_names();
  for (const std::string& schema : schemas) made.rows.push_back({whole_value(namespace_id(schemas, schema)), text_value(schema)});
  return made.as_table("pg_namespace");
}

TablePtr Session::SystemTables::databases() {
  SystemRows made;
  made.add_columns(TypeKind::BigInt, {"oid"});
  made.add_columns(TypeKind::Varchar, {"datname"});
  made.rows.push_back({whole_value(1), text_value(kCatalog)});
  return made.as_table("pg_database");
}

TablePtr Session::SystemTables::types() {
  SystemRows made;
  made.add_columns(TypeKind::BigInt, {"oid"});
  made.add_columns(TypeKind::Varchar, {"typname"});
  made.add_columns(TypeKind::BigInt, {"typnamespace"});
  const int64_t own = namespace_id(schema_names(), "pg_catalog");
  for (int64_t kind = 0; kind <= static_cast<int64_t>(TypeKind::Blob); ++kind) {
    const bool is_decimal = kind == static_cast<int64_t>(TypeKind::Decimal);
    const std::string type = is_decimal ? "DECIMAL" : LogicalType(static_cast<TypeKind>(kind)).to_string();
    made.rows.push_back({whole_value(kind + 1), text_value(type), whole_value(own)});
  }
  return made.as_table("pg_type");
}

TablePtr Session::SystemTables::tables_or_views(const std::string& name) {
  const bool views = name == "pg_views";
  SystemRows made;
  made.add_columns(TypeKind::Varchar, {"schemaname", views ? "viewname" : "tablename", views ? "viewowner" : "tableowner"});
  if (views) made.add_columns(TypeKind::Varchar, {"definition"});
  for (const Relation& relation : relations()) {
    if (relation.is_view != views) continue;
    made.rows.push_back({text_value(relation.schema), text_value(relation.name), text_value(kCatalog)});
    if (views) made.rows.back().push_back(text_value(relation.definition));
  }
  return made.as_table(name);
}

TablePtr Session::SystemTables::classes() {
  SystemRows made;
  made.add_columns(TypeKind::BigInt, {"oid"});
  made.add_columns(TypeKind::Varchar, {"relname"});
  made.add_columns(TypeKind::BigInt, {"relnamespace"});
  made.add_columns(TypeKind::Varchar, {"relkind"});
  const std::vector<std::string> schemas = schema_names();
  int64_t id = kFirstRelation;
  for (const Relation& relation : relations()) {
    made.rows.push_back({whole_value(id++), text_value(relation.name), whole_value(namespace_id(schemas, relation.schema)),
                         text_value(relation.is_view ? "v" : "r")});
  }
  return made.as_table("pg_class");
}

TablePtr Session::SystemTables::attributes() {
  SystemRows made;
  made.add_columns(TypeKind::BigInt, {"attrelid"});
  made.add_columns(TypeKind::Varchar, {"attname"});
  made.add_columns(TypeKind::BigInt, {"atttypid", "attnum"});
  made.add_columns(TypeKind::Boolean, {"attnotnull", "atthasdef", "attisdropped"});
  int64_t id = kFirstRelation;
  for (const Relation& relation : relations()) {
    for (size_t i = 0; i < relation.columns.size(); ++i) {
      const TableColumnInfo& column = relation.columns[i];
      made.rows.push_back({whole_value(id), text_value(column.name), whole_value(static_cast<int64_t>(column.type.kind()) + 1),
                           whole_value(static_cast<int64_t>(i) + 1), truth_value(column.not_null),
                           truth_value(!default_text(relation.key, column.name).is_null), truth_value(false)});
    }
    ++id;
  }
  return made.as_table("pg_attribute");
}

}  // namespace pistachio
