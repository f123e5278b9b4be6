// A table in memory that a statement changes. A changed table is a new one, which takes the place of the old one after all rules have been
// checked, so that a statement changes everything or nothing.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "session/session.h"
#include "session/table_rows.h"

namespace pistachio {

class Session::ChangedTable {
 public:
  // A UserError that names the statement if there is no such table in memory.
  ChangedTable(Session& session, const std::vector<std::string>& parts, std::string_view statement, int64_t position);

  const std::string& key() const { return key_; }
  const Table& table() const { return *session_.catalog_.tables.at(key_); }
  TablePtr shared_table() const { return session_.catalog_.tables.at(key_); }
  const std::vector<TableColumnInfo>& columns() const { return table().columns(); }
  TableRules& rules() const { return session_.catalog_.rules[key_]; }

  // One value for each row; without a default NULL.
  Column default_column(const TableColumnInfo& column, int64_t rows) const;
  void refuse_null(const TableColumnInfo& column, const Column& values) const;

  // For the table's next rows.
  TableRows new_rows() const;
  // `table` takes the place of this one if it fulfils the rules. `changed`: its new rows, which RETURNING reads under the table's name.
  void replace(TablePtr table, const std::vector<Chunk>& changed, const ast::Query* returning, ResultReceiver& receiver) const;
  void answer_changed_rows(const std::vector<Chunk>& changed, const ast::Query* returning, ResultReceiver& receiver) const;
  void put(TablePtr table) const { session_.catalog_.tables[key_] = std::move(table); }

  void check_keys() const;
  void check_conditions(const std::vector<Chunk>& changed) const;
  void check_not_null(const TableColumnInfo& column) const;

 private:
  // Calls `body` while the table has only these rows.
  void with_rows(const std::vector<Chunk>& rows, const std::function<void()>& body) const;
  std::vector<std::vector<ScalarValue>> rows_of(const std::string& sql) const;

  Session& session_;
  const std::string key_;
  const std::string_view statement_;
  const int64_t position_;
};

// Throws UserError if it is no constant that the column can hold.
void set_default(TableRules& rules, const TableColumnInfo& column, std::shared_ptr<const ast::Expression> value, const CancelToken& token);

// Adds keys and checks of CREATE or ALTER TABLE. Columns of a primary key become NOT NULL.
void add_rules(const ast::TableRules& added, std::vector<TableColumnInfo>& columns, TableRules& rules, int64_t position);

// The number of columns if there is none of this name.
size_t place_of(const std::vector<TableColumnInfo>& columns, const std::string& name);

}  // namespace pistachio
