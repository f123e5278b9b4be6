// Statements other than queries as SQL. See ast_writer.h.
#include <string_view>

#include "parser/ast_writer.h"

namespace pistachio {

void AstWriter::write_node(const ast::CreateView& node) {
  add(node.or_replace ? "CREATE OR REPLACE " : "CREATE ");
  add(node.temporary ? "TEMP VIEW " : "VIEW ");
  write_names(node.name, ".");
  write_aliases(node.column_aliases);
  add(" AS ");
  write(*node.query);
}

void AstWriter::write_node(const ast::CreateTable& node) {
  add(node.temporary ? "CREATE TEMP TABLE " : "CREATE TABLE ");
  if (node.if_not_exists) add("IF NOT EXISTS ");
  write_names(node.name, ".");
  write_aliases(node.column_aliases);
  if (node.query != nullptr) {
    add(" AS ");
    return write(*node.query);
  }
  add(" (");
  write_list(node.columns, ", ", [this](const ast::ColumnDefinition& column) {
    write_name(column.name);
    add(" ");
    write(column.type);
    if (column.not_null) add(" NOT NULL");
    if (column.default_value == nullptr) return;
    add(" DEFAULT ");
    write(*column.default_value);
  });
  for (const ast::TableRules::Key& key : node.rules.keys) {
    add(key.is_primary ? ", PRIMARY KEY" : ", UNIQUE");
    write_aliases(key.columns);
  }
  for (const ast::TableRules::Check& check : node.rules.checks) {
    add(", CHECK (");
    add(check.condition);
    add(")");
  }
  add(")");
}

void AstWriter::write_returning(const ast::Query* returning) {
  if (returning == nullptr) return;
  add(" RETURNING ");
  const auto& select = std::get<ast::Select>(returning->body);
  write_list(select.items, ", ", [this](const ast::SelectItem& item) { write(item); });
}

void AstWriter::write_node(const ast::Insert& node) {
  add("INSERT INTO ");
  write_names(node.table, ".");
  write_aliases(node.columns);
  add(" ");
  if (node.query == nullptr) {
    add("DEFAULT VALUES");
  } else {
    write(*node.query);
  }
  write_returning(node.returning.get());
}

// Changes are shown as the queries that they run.
void AstWriter::write_node(const ast::Update& node) {
  add("UPDATE ");
  write_names(node.table, ".");
  add(" BY ");
  write(*node.query);
  write_returning(node.returning.get());
}

void AstWriter::write_node(const ast::Delete& node) {
  add("DELETE FROM ");
  write_names(node.table, ".");
  add(" BY ");
  write(*node.query);
  write_returning(node.returning.get());
}

void AstWriter::write_node(const ast::Truncate& node) {
  add("TRUNCATE ");
  write_list(node.tables, ", ", [this](const std::vector<std::string>& name) { write_names(name, "."); });
}

void AstWriter::write_node(const ast::AlterTables& node) {
  for (const ast::AlterTable& change : node.changes) {
    add("ALTER TABLE ");
    write_names(change.table, ".");
    add(" ");
    write_name(change.column.empty() ? change.definition.name : change.column);
  }
}

void AstWriter::write_node(const ast::CreateIndex& node) {
  add(node.is_unique ? "CREATE UNIQUE INDEX " : "CREATE INDEX ");
  write_name(node.name);
  add(" ON ");
  write_names(node.table, ".");
  write_aliases(node.columns);
}

void AstWriter::write_node(const ast::CreateSchema& node) {
  add("CREATE SCHEMA ");
  write_name(node.name);
}

void AstWriter::write_node(const ast::Copy& node) {
  add("COPY (");
  write(*node.query);
  add(") TO ");
  write_text(node.path);
  if (node.options.empty() && node.partition_by.empty()) return;
  add(" (");
  write_list(node.options, ", ", [this](const ast::Copy::Option& option) {
    add(option.name);
    for (const std::string& value : option.values) {
      add(" ");
      write_text(value);
    }
  });
  if (!node.options.empty() && !node.partition_by.empty()) add(", ");
  if (!node.partition_by.empty()) {
    add("partition_by");
    write_aliases(node.partition_by);
  }
  add(")");
}

void AstWriter::write_node(const ast::Transaction& node) {
  using Kind = ast::Transaction::Kind;
  add(node.kind == Kind::Begin ? "BEGIN" : node.kind == Kind::Commit ? "COMMIT" : "ROLLBACK");
}

void AstWriter::write_node(const ast::Drop& node) {
  constexpr std::string_view kinds[] = {"DROP TABLE ", "DROP VIEW ", "DROP SCHEMA ", "DROP INDEX "};
  add(kinds[static_cast<size_t>(node.kind)]);
  if (node.if_exists) add("IF EXISTS ");
  write_list(node.names, ", ", [this](const std::vector<std::string>& name) { write_names(name, "."); });
}

void AstWriter::write_node(const ast::Explain& node) {
  add("EXPLAIN ");
  const bool json = node.format == ast::Explain::Format::Json;
  if (node.analyze || json) add(node.analyze && json ? "(ANALYZE, FORMAT JSON) " : json ? "(FORMAT JSON) " : "(ANALYZE) ");
  write(*node.statement);
}

void AstWriter::write_node(const ast::Set& node) {
  add(node.value ? "SET " : "RESET ");
  add(node.name);
  if (!node.value) return;
  add(" = ");
  write_text(*node.value);
}

void AstWriter::write_node(const ast::Show& node) {
  add("SHOW ");
  add(node.name);
}

void AstWriter::write_node(const ast::Describe& node) {
  add("DESCRIBE ");
  write(*node.query);
}

}  // namespace pistachio
