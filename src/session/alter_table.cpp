// ALTER TABLE and ALTER VIEW. A statement makes all of its changes or none.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "expr/cast.h"
#include "session/changed_table.h"

namespace pistachio {

namespace {

std::string renamed_key(const ast::AlterTable& change) {
  std::vector<std::string> parts = change.table;
  parts.back() = change.new_name;
  return table_key(parts);
}

}  // namespace

// One change of one table.
class Session::TableAlteration {
 public:
  TableAlteration(Session& session, const std::shared_ptr<const ast::Statement>& statement, const ast::AlterTable& change)
      : statement_(statement),
        position_(statement->position),
        change_(change),
        token_(session.token_),
        table_(session, change.table, "ALTER TABLE", position_),
        columns_(table_.columns()) {}

  void apply() {
    using Kind = ast::AlterTable::Kind;
    switch (change_.kind) {
      case Kind::AddConstraint: return add_constraint();
      case Kind::DropConstraint: return drop_constraint();
      case Kind::AddColumn: return add_column();
      default: return change_column();
    }
  }

 private:
  void add_constraint() {
    add_rules(change_.rules, columns_, table_.rules(), position_);
    put_columns();
    for (const TableColumnInfo& column : columns_) table_.check_not_null(column);
    check_rules();
  }

  void drop_constraint() {
    TableRules& rules = table_.rules();
    auto has_name = [&](const auto& rule) { return rule.name == change_.column; };
    const size_t dropped = std::erase_if(rules.keys, has_name) + std::erase_if(rules.checks, has_name);
    if (dropped == 0 && !change_.missing_ok)
      throw UserError(fmt::format("the table {} has no constraint {}", table_.key(), change_.column), position_);
  }

  void add_column() {
    const ast::ColumnDefinition& added = change_.definition;
    if (place_of(columns_, added.name) != columns_.size()) {
      if (change_.missing_ok) return;
      throw UserError(fmt::format("column {} already exists", added.name), position_);
    }
    columns_.push_back({added.name, resolve_type(added.type), "", added.not_null});
    if (added.default_value) set_default(table_.rules(), columns_.back(), {statement_, added.default_value.get()}, token_);
    add_rules(change_.rules, columns_, table_.rules(), position_);
    rebuild([&](std::vector<Column>& columns, int64_t rows) { columns.push_back(table_.default_column(columns_.back(), rows)); });
    table_.check_not_null(columns_.back());
    check_rules();
  }

  void change_column() {
    using Kind = ast::AlterTable::Kind;
    const size_t place = place_of(columns_, change_.column);
    if (place == columns_.size()) {
      if (change_.missing_ok) return;
      throw UserError(fmt::format("the table {} has no column {}", table_.key(), change_.column), position_);
    }
    TableColumnInfo& column = columns_[place];
    switch (change_.kind) {
      case Kind::DropColumn: return drop_column(place);
      case Kind::SetType: return change_type(place);
      case Kind::SetDefault: return set_default(table_.rules(), column, {statement_, change_.definition.default_value.get()}, token_);
      case Kind::DropDefault: table_.rules().defaults.erase(change_.column); return;
      case Kind::SetNotNull: column.not_null = true; break;
      case Kind::DropNotNull: allow_nulls(column); break;
      default: rename(column);
    }
    put_columns();
    table_.check_not_null(column);
  }

  void allow_nulls(TableColumnInfo& column) const {
    const ast::TableRules::Key* key = table_.rules().primary_key();
    if (key != nullptr && std::find(key->columns.begin(), key->columns.end(), column.name) != key->columns.end())
      throw UserError(fmt::format("column {} is part of the primary key", column.name), position_);
    column.not_null = false;
  }

  void rename(TableColumnInfo& column) const {
    if (place_of(columns_, change_.new_name) != columns_.size())
      throw UserError(fmt::format("column {} already exists", change_.new_name), position_);
    table_.rules().rename_column(column.name, change_.new_name);
    column.name = change_.new_name;
  }

  void drop_column(size_t place) {
    if (columns_.size() == 1) throw UserError("a table needs at least one column", position_);
    table_.rules().drop_column(columns_[place].name);
    columns_.erase(columns_.begin() + static_cast<std::ptrdiff_t>(place));
    rebuild([&](std::vector<Column>& columns, int64_t) { columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(place)); });
  }

  void change_type(size_t place) {
    const LogicalType type = resolve_type(change_.definition.type);
    if (!can_cast(columns_[place].type, type))
      throw UserError(fmt::format("{} cannot be cast to {}", columns_[place].type.to_string(), type.to_string()), position_);
    columns_[place].type = type;
    rebuild([&](std::vector<Column>& columns, int64_t) { columns[place] = cast_column(columns[place], type, {}); });
    check_rules();
  }

  // The table with columns_; `change` turns the columns of a chunk of it into these.
  template <typename Change>
  void rebuild(const Change& change) {
    TableRows rows = table_.new_rows();
    for (const Chunk& chunk : table_.table().chunks()) {
      std::vector<Column> columns(chunk.columns().begin(), chunk.columns().end());
      change(columns, chunk.rows());
      rows.add(Chunk(std::move(columns), chunk.rows()));
    }
    table_.put(rows.as_table(table_.key(), columns_));
  }

  // Only their names and rules changed.
  void put_columns() const {
    const Table& table = table_.table();
    table_.put(Table::of_chunks(table_.key(), columns_, table.chunks(), table.memory()));
  }

  void check_rules() const {
    table_.check_keys();
    table_.check_conditions(table_.shared_table()->chunks());
  }

  const std::shared_ptr<const ast::Statement>& statement_;
  const int64_t position_;
  const ast::AlterTable& change_;
  const CancelToken& token_;
  const ChangedTable table_;
  std::vector<TableColumnInfo> columns_;  // of the changed table
};

void Session::run(const std::shared_ptr<const ast::Statement>& statement, const ast::AlterTables& node, ResultReceiver&) {
  const SessionCatalog before = catalog_;
  try {
    for (const ast::AlterTable& change : node.changes) alter(statement, change);
  } catch (...) {
    catalog_ = before;
    throw;
  }
}

void Session::alter(const std::shared_ptr<const ast::Statement>& statement, const ast::AlterTable& change) {
  using Kind = ast::AlterTable::Kind;
  const int64_t position = statement->position;
  const std::string name = table_key(change.table);
  if (change.kind == Kind::RenameView || (change.kind == Kind::RenameTable && catalog_.views.contains(name))) {
    if (catalog_.views.contains(name)) return catalog_.rename_view(name, renamed_key(change), position);
    if (change.if_exists) return;
    throw UserError(fmt::format("there is no view {}", name), position);
  }
  if (change.if_exists && !catalog_.tables.contains(name)) return;
  TableAlteration alteration(*this, statement, change);
  if (change.kind == Kind::RenameTable) return catalog_.rename_table(name, renamed_key(change), position);
  alteration.apply();
}

}  // namespace pistachio
