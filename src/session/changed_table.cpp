#include "session/changed_table.h"

#include <ATen/core/Tensor.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "columns/row_selection.h"
#include "columns/scalar_access.h"
#include "engine/query_pipeline.h"
#include "expr/cast.h"
#include "expr/stability.h"
#include "expr/type_rules.h"
#include "session/deferred_begin.h"

namespace pistachio {

namespace {

bool has_nulls(const Column& column) {
  return column.has_validity() && !column.validity().all().item<bool>();
}

}  // namespace

size_t place_of(const std::vector<TableColumnInfo>& columns, const std::string& name) {
  auto found = std::find_if(columns.begin(), columns.end(), [&](const TableColumnInfo& column) { return column.name == name; });
  return static_cast<size_t>(found - columns.begin());
}

void add_rules(const ast::TableRules& added, std::vector<TableColumnInfo>& columns, TableRules& rules, int64_t position) {
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

void set_default(TableRules& rules, const TableColumnInfo& column, std::shared_ptr<const ast::Expression> value, const CancelToken& token) {
  const ScalarValue constant = bind_constant(*value, token);
  if (!constant.is_null && !can_cast(constant.type, column.type)) {
    throw UserError(fmt::format("the DEFAULT of column {} is {}, not {}", column.name, constant.type.to_string(), column.type.to_string()),
                    value->position);
  }
  cast_column(repeat_value(constant, 1), column.type, {});
  rules.defaults[column.name] = std::move(value);
}

Session::ChangedTable::ChangedTable(Session& session, const std::vector<std::string>& parts, std::string_view statement, int64_t position)
    : session_(session), key_(table_key(parts)), statement_(statement), position_(position) {
  const SessionCatalog& catalog = session_.catalog_;
  if (catalog.tables.contains(key_)) return;
  const bool exists = session_.folder_tables_.contains(key_) || catalog.views.contains(key_);
  if (!exists && statement != "INSERT") throw UserError(fmt::format("there is no table {}", key_), position);
  throw UserError(fmt::format("{} needs a table in memory, which {} is not; CREATE TABLE {} ... makes one", statement, key_, key_),
                  position);
}

Column Session::ChangedTable::default_column(const TableColumnInfo& column, int64_t rows) const {
  const TableRules& own = rules();
  auto known = own.defaults.find(column.name);
  if (known == own.defaults.end()) return null_column(column.type, rows, at::kCPU);
  return cast_column(repeat_value(bind_constant(*known->second, session_.token_), rows), column.type, {});
}

void Session::ChangedTable::refuse_null(const TableColumnInfo& column, const Column& values) const {
  if (!column.not_null || !has_nulls(values)) return;
  throw UserError(fmt::format("column {} of table {} is NOT NULL, and {} gives it a NULL", column.name, key_, statement_), position_);
}

TableRows Session::ChangedTable::new_rows() const {
  return TableRows(session_.engine_.governor().process_account().make_child(fmt::format("table {}", key_)));
}

void Session::ChangedTable::replace(TablePtr table, const std::vector<Chunk>& changed, const ast::Query* returning,
                                    ResultReceiver& receiver) const {
  const TablePtr before = shared_table();
  put(std::move(table));
  try {
    check_keys();
    check_conditions(changed);
    answer_changed_rows(changed, returning, receiver);
  } catch (...) {
    put(before);
    throw;
  }
}

void Session::ChangedTable::answer_changed_rows(const std::vector<Chunk>& changed, const ast::Query* returning,
                                                ResultReceiver& receiver) const {
  if (returning == nullptr) return;
  with_rows(changed, [&] {
    PlannedQuery planned = session_.plan(*returning);
    DeferredBegin result(receiver);
    result.begin(planned.columns);
    session_.run_planned(planned, result);
    result.end();
  });
}

void Session::ChangedTable::with_rows(const std::vector<Chunk>& rows, const std::function<void()>& body) const {
  struct Restore {
    TablePtr& place;
    TablePtr before;
    ~Restore() { place = std::move(before); }
  };
  TablePtr& place = session_.catalog_.tables[key_];
  const Restore restore{place, place};
  place = Table::of_chunks(key_, restore.before->columns(), rows, {});
  body();
}

std::vector<std::vector<ScalarValue>> Session::ChangedTable::rows_of(const std::string& sql) const {
  const std::vector<ast::Statement> parsed = parse_sql(sql, session_.token_);
  TableRows rows(session_.scope_->operator_memory().make_child("rules"));
  session_.run_planned(session_.plan(*std::get<ast::SelectStatement>(parsed.front().node).query), rows);
  std::vector<std::vector<ScalarValue>> values;
  for (const Chunk& chunk : rows.held.chunks()) {
    for (int64_t row = 0; row < chunk.rows(); ++row) {
      std::vector<ScalarValue>& cells = values.emplace_back();
      for (const Column& column : chunk.columns()) cells.push_back(value_at(column, row));
    }
  }
  return values;
}

void Session::ChangedTable::check_keys() const {
  for (const ast::TableRules::Key& key : rules().keys) {
    std::vector<std::string> columns;
    std::vector<std::string> has_values;
    for (const std::string& column : key.columns) {
      columns.push_back(quoted_name(column));
      has_values.push_back(quoted_name(column) + " IS NOT NULL");
    }
    const std::string list = fmt::format("{}", fmt::join(columns, ", "));
    const auto twice = rows_of(fmt::format("SELECT {} FROM {} WHERE {} GROUP BY {} HAVING count(*) > 1 LIMIT 1", list, quoted_table(key_),
                                           fmt::join(has_values, " AND "), list));
    if (twice.empty()) continue;
    std::vector<std::string> values;
    for (const ScalarValue& value : twice[0]) values.push_back(value.to_string());
    throw UserError(fmt::format("duplicate {1} ({2}) in table {0}: ({3})", key_, key.is_primary ? "primary key" : "unique key",
                                fmt::join(key.columns, ", "), fmt::join(values, ", ")),
                    position_);
  }
}

void Session::ChangedTable::check_conditions(const std::vector<Chunk>& changed) const {
  const std::vector<ast::TableRules::Check> checks = rules().checks;
  if (checks.empty()) return;
  with_rows(changed, [&] {
    for (const ast::TableRules::Check& check : checks) {
      const auto wrong = rows_of(fmt::format("SELECT count(*) FROM {} WHERE ({}) IS FALSE", quoted_table(key_), check.condition));
      if (wrong[0][0].integer == 0) continue;
      throw UserError(fmt::format("a row violates CHECK ({1}) of table {0}", key_, without_brackets(check.condition)), position_);
    }
  });
}

void Session::ChangedTable::check_not_null(const TableColumnInfo& column) const {
  if (!column.not_null) return;
  const auto nulls = rows_of(fmt::format("SELECT count(*) FROM {} WHERE {} IS NULL", quoted_table(key_), quoted_name(column.name)));
  if (nulls[0][0].integer > 0) throw UserError(fmt::format("column {} of table {} has NULLs", column.name, key_), position_);
}

}  // namespace pistachio
