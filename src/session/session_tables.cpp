// Statements of a session that create or drop tables, views, schemas and indexes; transactions, which restore what there was.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "engine/query_pipeline.h"
#include "session/changed_table.h"

namespace pistachio {

namespace {

void refuse_surplus_names(std::string_view what, const std::string& name, size_t columns, size_t names, int64_t position) {
  if (names <= columns) return;
  throw UserError(fmt::format("the {} {} has {} columns, but {} names are given", what, name, columns, names), position);
}

void refuse_repeated_columns(const std::vector<TableColumnInfo>& columns, int64_t position) {
  for (const TableColumnInfo& column : columns) {
    auto same = [&](const TableColumnInfo& other) { return other.name == column.name; };
    if (std::count_if(columns.begin(), columns.end(), same) > 1) throw UserError(fmt::format("duplicate column {}", column.name), position);
  }
}

}  // namespace

void Session::run(const std::shared_ptr<const ast::Statement>& statement, const ast::CreateView& node, ResultReceiver&) {
  std::string name = catalog_.new_table_key(node.name, statement->position);
  if (catalog_.tables.contains(name) || !node.or_replace) catalog_.refuse_taken(name, statement->position);
  // An invalid view is rejected now, not at its first use. It is registered before the check, so that a view that refers to itself is
  // detected.
  std::map<std::string, ViewDefinition> views_before = catalog_.views;
  catalog_.views[name] = ViewDefinition{statement, node.query.get(), node.column_aliases};
  try {
    const LogicalPlan bound = bind_query(*node.query, *this, {.token = token_});
    refuse_surplus_names("view", name, bound.output.size(), node.column_aliases.size(), statement->position);
  } catch (...) {
    catalog_.views = std::move(views_before);
    throw;
  }
}

void Session::run(const std::shared_ptr<const ast::Statement>& statement, const ast::CreateTable& node, ResultReceiver&) {
  std::string name = catalog_.new_table_key(node.name, statement->position);
  if (node.if_not_exists && catalog_.has(name)) return;
  catalog_.refuse_taken(name, statement->position);
  if (!node.query) return create_empty_table(statement, node, name);
  std::vector<TableColumnInfo> columns;
  PlannedQuery planned = plan(*node.query);
  refuse_surplus_names("table", name, planned.columns.size(), node.column_aliases.size(), statement->position);
  for (size_t i = 0; i < planned.columns.size(); ++i) {
    bool renamed = i < node.column_aliases.size();
    columns.push_back({renamed ? node.column_aliases[i] : planned.columns[i].name, planned.columns[i].type, ""});
  }
  TableRows rows(engine_.governor().process_account().make_child(fmt::format("table {}", name)));
  run_planned(planned, rows);
  catalog_.tables[name] = rows.as_table(name, std::move(columns));
}

void Session::create_empty_table(const std::shared_ptr<const ast::Statement>& statement, const ast::CreateTable& node,
                                 const std::string& name) {
  std::vector<TableColumnInfo> columns;
  TableRules rules;
  for (const ast::ColumnDefinition& column : node.columns) {
    columns.push_back({column.name, resolve_type(column.type), "", column.not_null});
    if (column.default_value) set_default(rules, columns.back(), {statement, column.default_value.get()}, token_);
  }
  refuse_repeated_columns(columns, statement->position);
  add_rules(node.rules, columns, rules, statement->position);
  catalog_.tables[name] = Table::of_chunks(name, std::move(columns), {}, {});
  catalog_.rules[name] = std::move(rules);
  try {
    // A check of unknown columns is refused now.
    ChangedTable(*this, node.name, "CREATE TABLE", statement->position).check_conditions({});
  } catch (...) {
    catalog_.drop_table(name);
    throw;
  }
}

void Session::run(const std::shared_ptr<const ast::Statement>& statement, const ast::Drop& node, ResultReceiver&) {
  for (const std::vector<std::string>& parts : node.names) {
    std::string name = table_key(parts);
    bool done = false;
    switch (node.kind) {
      case ast::Drop::Kind::Table: done = catalog_.drop_table(name); break;
      case ast::Drop::Kind::View: done = catalog_.drop_view(name); break;
      case ast::Drop::Kind::Index: done = catalog_.drop_index(parts.back()); break;
      case ast::Drop::Kind::Schema: done = catalog_.drop_schema(parts.back(), statement->position); break;
    }
    if (done || node.if_exists) continue;
    if (node.kind == ast::Drop::Kind::Table && folder_tables_.contains(name))
      throw UserError(fmt::format("{} is a table of files: remove the files instead", name), statement->position);
    constexpr std::string_view kinds[] = {"table", "view", "schema", "index"};
    throw UserError(fmt::format("there is no {} {}", kinds[static_cast<size_t>(node.kind)], name), statement->position);
  }
}

void Session::run(const std::shared_ptr<const ast::Statement>& statement, const ast::CreateSchema& node, ResultReceiver&) {
  catalog_.create_schema(node.name, node.if_not_exists, statement->position);
}

void Session::run(const std::shared_ptr<const ast::Statement>& statement, const ast::CreateIndex& node, ResultReceiver&) {
  const ChangedTable table(*this, node.table, "CREATE INDEX", statement->position);
  std::string name = node.name;
  if (name.empty()) name = fmt::format("{}_{}_idx", node.table.back(), fmt::join(node.columns, "_"));
  if (catalog_.indexes.contains(name)) {
    if (node.if_not_exists) return;
    throw UserError(fmt::format("index {} already exists", name), statement->position);
  }
  for (const std::string& column : node.columns) {
    if (place_of(table.columns(), column) == table.columns().size())
      throw UserError(fmt::format("the table {} has no column {}", table.key(), column), statement->position);
  }
  if (node.is_unique) {
    TableRules& rules = table.rules();
    rules.keys.push_back({name, node.columns, false});
    try {
      table.check_keys();
    } catch (...) {
      rules.keys.pop_back();
      throw;
    }
  }
  catalog_.indexes[name] = table.key();
  notes_.push_back(node.is_unique ? "an index does not make queries faster here; it keeps its columns unique"
                                  : "an index does not make queries faster here: nothing was built");
}

void Session::run(const std::shared_ptr<const ast::Statement>& statement, const ast::Transaction& node, ResultReceiver&) {
  using Kind = ast::Transaction::Kind;
  if (node.kind == Kind::Begin) {
    if (before_transaction_) throw UserError("a transaction is already in progress", statement->position);
    before_transaction_ = catalog_;
    transaction_failed_ = false;
    return;
  }
  if (!before_transaction_) throw UserError("no transaction has begun", statement->position);
  if (node.kind == Kind::Rollback || transaction_failed_) catalog_ = *before_transaction_;
  if (node.kind == Kind::Commit && transaction_failed_) notes_.push_back("the transaction had failed: it was rolled back");
  before_transaction_.reset();
  transaction_failed_ = false;
}

}  // namespace pistachio
