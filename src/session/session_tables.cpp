// Statements of a session that create, change or drop tables and views: CREATE, ALTER, DROP; transactions, which restore what there was.
#include <ATen/core/Tensor.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "columns/row_selection.h"
#include "columns/scalar_access.h"
#include "engine/query_pipeline.h"
#include "expr/cast.h"
#include "expr/stability.h"
#include "expr/type_rules.h"
#include "session/session.h"
#include "session/table_rows.h"

namespace pistachio {

namespace {

void refuse_surplus_names(std::string_view what, const std::string& name, size_t columns, size_t names, int64_t position) {
  if (names <= columns) return;
  throw UserError(fmt::format("the {} {} has {} columns, but {} names are given", what, name, columns, names), position);
}

bool is_own_schema(const std::string& schema) {
  return schema == "main" || schema == "public";
}

size_t place_of(const std::vector<TableColumnInfo>& columns, const std::string& name) {
  auto found = std::find_if(columns.begin(), columns.end(), [&](const TableColumnInfo& column) { return column.name == name; });
  return static_cast<size_t>(found - columns.begin());
}

void refuse_repeated_columns(const std::vector<TableColumnInfo>& columns, int64_t position) {
  for (const TableColumnInfo& column : columns) {
    auto same = [&](const TableColumnInfo& other) { return other.name == column.name; };
    if (std::count_if(columns.begin(), columns.end(), same) > 1)
      throw UserError(fmt::format("there are two columns {}", column.name), position);
  }
}

}  // namespace

// Tables of schemas that were created have names with a point, which a user's plain name does not.
std::string table_key(const std::vector<std::string>& parts) {
  if (parts.size() < 2 || is_own_schema(parts[parts.size() - 2]) || parts[parts.size() - 2] == "temp") return parts.back();
  return parts[parts.size() - 2] + "." + parts.back();
}

std::string quoted_name(std::string_view name) {
  std::string quoted = "\"";
  for (char c : name) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + "\"";
}

std::string quoted_table(const std::string& key) {
  const size_t point = key.find('.');
  return point == std::string::npos ? quoted_name(key) : quoted_name(key.substr(0, point)) + "." + quoted_name(key.substr(point + 1));
}

void Session::refuse_taken(const std::string& name, int64_t position) const {
  bool taken = tables_.contains(name) || views_.contains(name);
  if (taken) throw UserError(fmt::format("there is a table or view {} already; DROP it first", name), position);
}

std::string Session::new_table_key(const std::vector<std::string>& parts, int64_t position) const {
  const std::string key = table_key(parts);
  const bool has_schema = key != parts.back();
  if (has_schema && !schemas_.contains(parts[parts.size() - 2]))
    throw UserError(fmt::format("there is no schema {}; CREATE SCHEMA makes one", parts[parts.size() - 2]), position);
  return key;
}

void Session::run(const std::shared_ptr<const ast::Statement>& statement, const ast::CreateView& node, ResultReceiver&) {
  std::string name = new_table_key(node.name, statement->position);
  if (tables_.contains(name) || (views_.contains(name) && !node.or_replace)) refuse_taken(name, statement->position);
  // An invalid view is rejected now, not at its first use. It is registered before the check, so that a view that refers to itself is
  // detected.
  std::map<std::string, ViewDefinition> views_before = views_;
  views_[name] = ViewDefinition{statement, node.query.get(), node.column_aliases};
  try {
    const LogicalPlan bound = bind_query(*node.query, *this, {.token = token_});
    refuse_surplus_names("view", name, bound.output.size(), node.column_aliases.size(), statement->position);
  } catch (...) {
    views_ = std::move(views_before);
    throw;
  }
}

void Session::run(const std::shared_ptr<const ast::Statement>& statement, const ast::CreateTable& node, ResultReceiver&) {
  std::string name = new_table_key(node.name, statement->position);
  if (node.if_not_exists && (tables_.contains(name) || views_.contains(name))) return;
  refuse_taken(name, statement->position);
  std::vector<TableColumnInfo> columns;
  if (!node.query) {
    TableRules rules;
    for (const ast::ColumnDefinition& column : node.columns) {
      columns.push_back({column.name, resolve_type(column.type), "", column.not_null});
      if (column.default_value) set_default(rules, columns.back(), {statement, column.default_value.get()});
    }
    refuse_repeated_columns(columns, statement->position);
    add_rules(node.rules, columns, rules, statement->position);
    tables_[name] = Table::of_chunks(name, std::move(columns), {}, {});
    rules_[name] = std::move(rules);
    try {
      // A check of unknown columns is refused now.
      check_conditions(name, {}, statement->position);
    } catch (...) {
      tables_.erase(name);
      rules_.erase(name);
      throw;
    }
    return;
  }
  PlannedQuery planned = plan(*node.query);
  refuse_surplus_names("table", name, planned.columns.size(), node.column_aliases.size(), statement->position);
  for (size_t i = 0; i < planned.columns.size(); ++i) {
    bool renamed = i < node.column_aliases.size();
    columns.push_back({renamed ? node.column_aliases[i] : planned.columns[i].name, planned.columns[i].type, ""});
  }
  TableRows rows(engine_.governor().process_account().make_child(fmt::format("table {}", name)));
  run_planned(planned, rows);
  tables_[name] = rows.as_table(name, std::move(columns));
}

void Session::set_default(TableRules& rules, const TableColumnInfo& column, std::shared_ptr<const ast::Expression> value) {
  const ScalarValue constant = bind_constant(*value, token_);
  if (!constant.is_null && !can_cast(constant.type, column.type)) {
    throw UserError(fmt::format("the DEFAULT of column {} is {}, not {}", column.name, constant.type.to_string(), column.type.to_string()),
                    value->position);
  }
  cast_column(repeat_value(constant, 1), column.type, {});
  rules.defaults[column.name] = std::move(value);
}

// Columns of a primary key become NOT NULL.
void Session::add_rules(const ast::TableRules& added, std::vector<TableColumnInfo>& columns, TableRules& rules, int64_t position) {
  for (const ast::TableRules::Key& key : added.keys) {
    if (key.is_primary && rules.primary_key() != nullptr) throw UserError("a table has one primary key", position);
    for (const std::string& name : key.columns) {
      const size_t place = place_of(columns, name);
      if (place == columns.size()) throw UserError(fmt::format("the key names an unknown column: {}", name), position);
      columns[place].not_null = columns[place].not_null || key.is_primary;
    }
    rules.keys.push_back(key);
  }
  for (const ast::TableRules::Check& check : added.checks) rules.checks.push_back(check);
}

void Session::run(const std::shared_ptr<const ast::Statement>& statement, const ast::Drop& node, ResultReceiver&) {
  for (const std::vector<std::string>& parts : node.names) {
    std::string name = table_key(parts);
    bool done = false;
    switch (node.kind) {
      case ast::Drop::Kind::Table: done = tables_.erase(name) > 0; break;
      case ast::Drop::Kind::View: done = views_.erase(name) > 0; break;
      case ast::Drop::Kind::Index: done = drop_index(parts.back()); break;
      case ast::Drop::Kind::Schema: done = drop_schema(parts.back(), statement->position); break;
    }
    if (node.kind == ast::Drop::Kind::Table) {
      rules_.erase(name);
      std::erase_if(indexes_, [&](const auto& index) { return index.second == name; });
    }
    if (done || node.if_exists) continue;
    if (node.kind == ast::Drop::Kind::Table && folder_tables_.contains(name))
      throw UserError(fmt::format("{} is a table of files: remove the files instead", name), statement->position);
    constexpr std::string_view kinds[] = {"table", "view", "schema", "index"};
    throw UserError(fmt::format("there is no {} {}", kinds[static_cast<size_t>(node.kind)], name), statement->position);
  }
}

// An index is a name; a unique one is a key of its table.
bool Session::drop_index(const std::string& name) {
  auto found = indexes_.find(name);
  if (found == indexes_.end()) return false;
  auto rules = rules_.find(found->second);
  if (rules != rules_.end()) std::erase_if(rules->second.keys, [&](const ast::TableRules::Key& key) { return key.name == name; });
  indexes_.erase(found);
  return true;
}

bool Session::drop_schema(const std::string& name, int64_t position) {
  const std::string prefix = name + ".";
  auto is_inside = [&](const auto& entry) { return entry.first.starts_with(prefix); };
  if (std::any_of(tables_.begin(), tables_.end(), is_inside) || std::any_of(views_.begin(), views_.end(), is_inside))
    throw UserError(fmt::format("the schema {} has tables or views; DROP them first", name), position);
  return schemas_.erase(name) > 0;
}

void Session::run(const std::shared_ptr<const ast::Statement>& statement, const ast::CreateSchema& node, ResultReceiver&) {
  const bool is_taken =
      is_own_schema(node.name) || node.name == "information_schema" || node.name == "pg_catalog" || schemas_.contains(node.name);
  if (is_taken && !node.if_not_exists) throw UserError(fmt::format("there is a schema {} already", node.name), statement->position);
  if (node.name.find('.') != std::string::npos) throw UserError("the name of a schema must not contain a point", statement->position);
  if (!is_taken) schemas_.insert(node.name);
}

void Session::run(const std::shared_ptr<const ast::Statement>& statement, const ast::CreateIndex& node, ResultReceiver&) {
  const Table& table = table_to_change(node.table, "CREATE INDEX", statement->position);
  const std::string key = table_key(node.table);
  std::string name = node.name;
  if (name.empty()) name = fmt::format("{}_{}_idx", node.table.back(), fmt::join(node.columns, "_"));
  if (indexes_.contains(name)) {
    if (node.if_not_exists) return;
    throw UserError(fmt::format("there is an index {} already", name), statement->position);
  }
  for (const std::string& column : node.columns) {
    if (place_of(table.columns(), column) == table.columns().size())
      throw UserError(fmt::format("the table {} has no column {}", key, column), statement->position);
  }
  if (node.is_unique) {
    TableRules& rules = rules_[key];
    rules.keys.push_back({name, node.columns, false});
    try {
      check_keys(key, statement->position);
    } catch (...) {
      rules.keys.pop_back();
      throw;
    }
  }
  indexes_[name] = key;
  notes_.push_back(node.is_unique ? "an index does not make queries faster here; it keeps its columns unique"
                                  : "an index does not make queries faster here: nothing was built");
}

void Session::run(const std::shared_ptr<const ast::Statement>& statement, const ast::AlterTables& node, ResultReceiver&) {
  const State before = state();
  try {
    for (const ast::AlterTable& change : node.changes) alter(statement, change);
  } catch (...) {
    restore(before);
    throw;
  }
}

void Session::alter(const std::shared_ptr<const ast::Statement>& statement, const ast::AlterTable& change) {
  using Kind = ast::AlterTable::Kind;
  const int64_t position = statement->position;
  const std::string name = table_key(change.table);
  if (change.kind == Kind::RenameView || (change.kind == Kind::RenameTable && views_.contains(name))) return rename_view(change, position);
  if (change.if_exists && !tables_.contains(name)) return;
  const TablePtr table = (table_to_change(change.table, "ALTER TABLE", position), tables_.at(name));
  std::vector<TableColumnInfo> columns = table->columns();
  TableRules& rules = rules_[name];
  if (change.kind == Kind::RenameTable) return rename_table(change, position);
  if (change.kind == Kind::AddConstraint) {
    add_rules(change.rules, columns, rules, position);
    tables_[name] = Table::of_chunks(name, columns, table->chunks(), table->memory());
    for (const TableColumnInfo& column : columns) check_not_null(name, column, position);
    check_keys(name, position);
    return check_conditions(name, table->chunks(), position);
  }
  if (change.kind == Kind::DropConstraint) {
    auto has_name = [&](const auto& rule) { return rule.name == change.column; };
    const size_t dropped = std::erase_if(rules.keys, has_name) + std::erase_if(rules.checks, has_name);
    if (dropped == 0 && !change.missing_ok)
      throw UserError(fmt::format("the table {} has no constraint {}", name, change.column), position);
    return;
  }
  if (change.kind == Kind::AddColumn) return add_column(statement, change);
  const size_t place = place_of(columns, change.column);
  if (place == columns.size()) {
    if (change.missing_ok) return;
    throw UserError(fmt::format("the table {} has no column {}", name, change.column), position);
  }
  TableColumnInfo& column = columns[place];
  switch (change.kind) {
    case Kind::DropColumn: return drop_column(name, place, position);
    case Kind::SetType: return change_type(name, place, resolve_type(change.definition.type), position);
    case Kind::SetDefault: return set_default(rules, column, {statement, change.definition.default_value.get()});
    case Kind::DropDefault: rules.defaults.erase(change.column); return;
    case Kind::SetNotNull: column.not_null = true; break;
    case Kind::DropNotNull:
      if (const auto* key = rules.primary_key();
          key != nullptr && std::find(key->columns.begin(), key->columns.end(), change.column) != key->columns.end())
        throw UserError(fmt::format("column {} is part of the primary key", change.column), position);
      column.not_null = false;
      break;
    default:
      if (place_of(columns, change.new_name) != columns.size())
        throw UserError(fmt::format("column {} already exists", change.new_name), position);
      rules.rename_column(change.column, change.new_name);
      column.name = change.new_name;
  }
  tables_[name] = Table::of_chunks(name, columns, table->chunks(), table->memory());
  check_not_null(name, columns[place], position);
}

void Session::check_not_null(const std::string& name, const TableColumnInfo& column, int64_t position) {
  if (!column.not_null) return;
  const auto nulls = rows_of(fmt::format("SELECT count(*) FROM {} WHERE {} IS NULL", quoted_table(name), quoted_name(column.name)));
  if (nulls[0][0].integer > 0) throw UserError(fmt::format("column {} of table {} has NULLs", column.name, name), position);
}

void Session::rename_view(const ast::AlterTable& change, int64_t position) {
  const std::string name = table_key(change.table);
  if (!views_.contains(name)) {
    if (change.if_exists) return;
    throw UserError(fmt::format("there is no view {}", name), position);
  }
  std::vector<std::string> parts = change.table;
  parts.back() = change.new_name;
  refuse_taken(table_key(parts), position);
  auto view = views_.extract(name);
  view.key() = table_key(parts);
  views_.insert(std::move(view));
}

void Session::rename_table(const ast::AlterTable& change, int64_t position) {
  const std::string name = table_key(change.table);
  std::vector<std::string> parts = change.table;
  parts.back() = change.new_name;
  const std::string renamed = table_key(parts);
  refuse_taken(renamed, position);
  const TablePtr table = tables_.at(name);
  tables_[renamed] = Table::of_chunks(renamed, table->columns(), table->chunks(), table->memory());
  tables_.erase(name);
  if (auto rules = rules_.extract(name)) {
    rules.key() = renamed;
    rules_.insert(std::move(rules));
  }
  for (auto& [index, of_table] : indexes_) {
    if (of_table == name) of_table = renamed;
  }
}

void Session::add_column(const std::shared_ptr<const ast::Statement>& statement, const ast::AlterTable& change) {
  const std::string name = table_key(change.table);
  const TablePtr table = tables_.at(name);
  std::vector<TableColumnInfo> columns = table->columns();
  if (place_of(columns, change.definition.name) != columns.size()) {
    if (change.missing_ok) return;
    throw UserError(fmt::format("column {} already exists", change.definition.name), statement->position);
  }
  columns.push_back({change.definition.name, resolve_type(change.definition.type), "", change.definition.not_null});
  if (change.definition.default_value) set_default(rules_[name], columns.back(), {statement, change.definition.default_value.get()});
  add_rules(change.rules, columns, rules_[name], statement->position);
  rebuild(name, columns, [&](const Chunk& chunk) {
    std::vector<Column> made(chunk.columns().begin(), chunk.columns().end());
    made.push_back(default_column(name, columns.back(), chunk.rows()));
    return made;
  });
  check_not_null(name, columns.back(), statement->position);
  check_keys(name, statement->position);
  check_conditions(name, tables_.at(name)->chunks(), statement->position);
}

void Session::drop_column(const std::string& name, size_t place, int64_t position) {
  std::vector<TableColumnInfo> columns = tables_.at(name)->columns();
  if (columns.size() == 1) throw UserError("a table needs at least one column", position);
  rules_[name].drop_column(columns[place].name);
  columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(place));
  rebuild(name, columns, [&](const Chunk& chunk) {
    std::vector<Column> made(chunk.columns().begin(), chunk.columns().end());
    made.erase(made.begin() + static_cast<std::ptrdiff_t>(place));
    return made;
  });
}

void Session::change_type(const std::string& name, size_t place, LogicalType type, int64_t position) {
  std::vector<TableColumnInfo> columns = tables_.at(name)->columns();
  if (!can_cast(columns[place].type, type))
    throw UserError(fmt::format("{} cannot be cast to {}", columns[place].type.to_string(), type.to_string()), position);
  columns[place].type = type;
  rebuild(name, columns, [&](const Chunk& chunk) {
    std::vector<Column> made(chunk.columns().begin(), chunk.columns().end());
    made[place] = cast_column(made[place], type, {});
    return made;
  });
  check_keys(name, position);
  check_conditions(name, tables_.at(name)->chunks(), position);
}

// The table with these columns; `change` gives those of each of its chunks.
void Session::rebuild(const std::string& name, std::vector<TableColumnInfo> columns,
                      const std::function<std::vector<Column>(const Chunk&)>& change) {
  TableRows rows(engine_.governor().process_account().make_child(fmt::format("table {}", name)));
  for (const Chunk& chunk : tables_.at(name)->chunks()) rows.add(Chunk(change(chunk), chunk.rows()));
  tables_[name] = rows.as_table(name, std::move(columns));
}

Session::State Session::state() const {
  return {tables_, views_, rules_, indexes_, schemas_};
}

void Session::restore(const State& before) {
  tables_ = before.tables;
  views_ = before.views;
  rules_ = before.rules;
  indexes_ = before.indexes;
  schemas_ = before.schemas;
}

void Session::run(const std::shared_ptr<const ast::Statement>& statement, const ast::Transaction& node, ResultReceiver&) {
  using Kind = ast::Transaction::Kind;
  if (node.kind == Kind::Begin) {
    if (before_transaction_) throw UserError("a transaction is already in progress", statement->position);
    before_transaction_ = state();
    transaction_failed_ = false;
    return;
  }
  if (!before_transaction_) throw UserError("no transaction has begun", statement->position);
  if (node.kind == Kind::Rollback || transaction_failed_) restore(*before_transaction_);
  if (node.kind == Kind::Commit && transaction_failed_) notes_.push_back("the transaction had failed: it was rolled back");
  before_transaction_.reset();
  transaction_failed_ = false;
}

}  // namespace pistachio
