// Statements of a session that change the rows of tables in memory: INSERT, UPDATE, DELETE, TRUNCATE. A changed table is a new one, which
// takes the place of the old one after all rules have been checked, so that a statement changes everything or nothing.
#include <ATen/core/Tensor.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "binder/name_match.h"
#include "columns/concatenate_columns.h"
#include "columns/decode_dictionary.h"
#include "columns/row_selection.h"
#include "columns/scalar_access.h"
#include "engine/query_pipeline.h"
#include "expr/cast.h"
#include "expr/type_rules.h"
#include "kernels/ops/tensor_functions.h"
#include "session/late_begin.h"
#include "session/session.h"
#include "session/table_rows.h"

namespace pistachio {

namespace {

bool has_nulls(const Column& column) {
  return column.has_validity() && !column.validity().all().item<bool>();
}

// The place of a column that a statement names.
size_t named_column(const Table& table, const std::string& name, int64_t position) {
  auto exact = std::find_if(table.columns().begin(), table.columns().end(), [&](const TableColumnInfo& own) { return own.name == name; });
  if (exact != table.columns().end()) return static_cast<size_t>(exact - table.columns().begin());
  auto is_alike = [&](const TableColumnInfo& own) { return may_be_unquoted(name) && matches_without_case(name, own.name); };
  auto alike = std::find_if(table.columns().begin(), table.columns().end(), is_alike);
  if (alike == table.columns().end() || std::count_if(table.columns().begin(), table.columns().end(), is_alike) > 1)
    throw UserError(fmt::format("the table {} has no column {}", table.name(), name), position);
  return static_cast<size_t>(alike - table.columns().begin());
}

// The table's column that each given value is for.
std::vector<size_t> named_columns(const std::vector<std::string>& names, const Table& table, int64_t position) {
  std::vector<size_t> targets;
  for (const std::string& name : names) {
    targets.push_back(named_column(table, name, position));
    if (std::count(targets.begin(), targets.end(), targets.back()) > 1)
      throw UserError(fmt::format("column {} is given twice", name), position);
  }
  return targets;
}

void refuse_uncastable(LogicalType given, const TableColumnInfo& column, int64_t position) {
  if (can_cast(given, column.type)) return;
  throw UserError(fmt::format("column {} is {}, not {}", column.name, column.type.to_string(), given.to_string()), position);
}

// `changed` where the mask is true, else `old`.
Column merge_values(const Column& old, const Column& changed, const at::Tensor& mask) {
  const int64_t rows = old.rows();
  const Column both = concatenate_columns({decode_dictionary(old), decode_dictionary(changed)}, {});
  const at::Tensor own = at::arange(rows, at::kLong);
  return take_rows(both, at::where(mask, own + rows, own));
}

}  // namespace

const Table& Session::table_to_change(const std::vector<std::string>& parts, std::string_view statement, int64_t position) {
  const std::string name = table_key(parts);
  auto found = tables_.find(name);
  if (found != tables_.end()) return *found->second;
  const bool exists = folder_tables_.contains(name) || views_.contains(name);
  if (!exists && statement != "INSERT") throw UserError(fmt::format("there is no table {}", name), position);
  throw UserError(fmt::format("{} needs a table in memory, which {} is not; CREATE TABLE {} ... makes one", statement, name, name),
                  position);
}

// One value for each row; without a default NULL.
Column Session::default_column(const std::string& table, const TableColumnInfo& column, int64_t rows) {
  const TableRules& rules = rules_[table];
  auto known = rules.defaults.find(column.name);
  if (known == rules.defaults.end()) return null_column(column.type, rows, at::kCPU);
  return cast_column(repeat_value(bind_constant(*known->second, token_), rows), column.type, {});
}

void Session::refuse_null(const std::string& table, const TableColumnInfo& column, const Column& values, std::string_view statement,
                          int64_t position) const {
  if (!column.not_null || !has_nulls(values)) return;
  throw UserError(fmt::format("column {} of table {} is NOT NULL, and {} gives it a NULL", column.name, table, statement), position);
}

void Session::run(const std::shared_ptr<const ast::Statement>& statement, const ast::Insert& node, ResultReceiver& receiver) {
  const int64_t position = statement->position;
  const Table& table = table_to_change(node.table, "INSERT", position);
  const std::string name = table_key(node.table);
  const std::vector<TableColumnInfo>& columns = table.columns();
  // By table column, the index of the inserted column; -1: the default.
  std::vector<int> places(columns.size(), -1);
  TableRows inserted(scope_->operator_memory().make_child("insert"));
  if (node.query != nullptr) {
    std::vector<size_t> targets = named_columns(node.columns, table, position);
    for (size_t i = 0; node.columns.empty() && i < columns.size(); ++i) targets.push_back(i);
    std::vector<LogicalType> types;
    for (size_t target : targets) types.push_back(columns[target].type);
    PlannedQuery planned = plan(*node.query, std::move(types));
    if (planned.columns.size() != targets.size() && !(node.columns.empty() && planned.columns.size() < targets.size()))
      throw UserError(fmt::format("INSERT gives {} columns for {}", planned.columns.size(), targets.size()), position);
    for (size_t i = 0; i < planned.columns.size(); ++i) {
      places[targets[i]] = static_cast<int>(i);
      refuse_uncastable(planned.columns[i].type, columns[targets[i]], position);
    }
    refuse_missing_values(name, table, places, position);
    run_planned(planned, inserted);
  } else {
    refuse_missing_values(name, table, places, position);
    inserted.add(Chunk({}, 1, at::kCPU));
  }
  TableRows added(engine_.governor().process_account().make_child(fmt::format("table {}", name)));
  for (const Chunk& chunk : inserted.held.chunks()) {
    std::vector<Column> made;
    for (size_t i = 0; i < places.size(); ++i) {
      made.push_back(places[i] < 0 ? default_column(name, columns[i], chunk.rows())
                                   : cast_column(chunk.column(static_cast<size_t>(places[i])), columns[i].type, {}));
      refuse_null(name, columns[i], made.back(), "INSERT", position);
    }
    added.add(Chunk(std::move(made), chunk.rows()));
  }
  const std::vector<Chunk> new_rows = added.held.chunks();
  replace_rows(name, added.append_to(table), new_rows, node.returning.get(), receiver, position);
}

void Session::refuse_missing_values(const std::string& name, const Table& table, const std::vector<int>& places, int64_t position) {
  for (size_t i = 0; i < places.size(); ++i) {
    const TableColumnInfo& column = table.columns()[i];
    if (places[i] < 0 && column.not_null && !rules_[name].defaults.contains(column.name))
      throw UserError(fmt::format("column {} of table {} is NOT NULL, and INSERT gives it no value", column.name, name), position);
  }
}

void Session::run(const std::shared_ptr<const ast::Statement>& statement, const ast::Update& node, ResultReceiver& receiver) {
  const int64_t position = statement->position;
  const Table& table = table_to_change(node.table, "UPDATE", position);
  const std::string name = table_key(node.table);
  const std::vector<TableColumnInfo>& columns = table.columns();
  const std::vector<size_t> targets = named_columns(node.columns, table, position);
  PlannedQuery planned = plan(*node.query);
  // The table's columns, whether the row is changed, the values.
  const size_t mark = columns.size();
  for (size_t i = 0; i < targets.size(); ++i) {
    if (!node.sets_default[i]) refuse_uncastable(planned.columns[mark + 1 + i].type, columns[targets[i]], position);
  }
  TableRows marked(scope_->operator_memory().make_child("update"));
  run_planned(planned, marked);
  TableRows kept(engine_.governor().process_account().make_child(fmt::format("table {}", name)));
  std::vector<Chunk> changed;
  for (const Chunk& chunk : marked.held.chunks()) {
    const at::Tensor mask = chunk.column(mark).values();
    std::vector<Column> made(chunk.columns().begin(), chunk.columns().begin() + static_cast<std::ptrdiff_t>(mark));
    for (size_t i = 0; i < targets.size(); ++i) {
      const TableColumnInfo& column = columns[targets[i]];
      const Column value =
          node.sets_default[i] ? default_column(name, column, chunk.rows()) : cast_column(chunk.column(mark + 1 + i), column.type, {});
      made[targets[i]] = merge_values(made[targets[i]], value, mask);
      refuse_null(name, column, made[targets[i]], "UPDATE", position);
    }
    Chunk whole(std::move(made), chunk.rows());
    changed.push_back(select_rows(whole, mask));
    kept.add(whole);
  }
  replace_rows(name, kept.as_table(name, columns), changed, node.returning.get(), receiver, position);
}

void Session::run(const std::shared_ptr<const ast::Statement>& statement, const ast::Delete& node, ResultReceiver& receiver) {
  const int64_t position = statement->position;
  const Table& table = table_to_change(node.table, "DELETE", position);
  const std::string name = table_key(node.table);
  const size_t mark = table.columns().size();
  PlannedQuery planned = plan(*node.query);
  TableRows marked(scope_->operator_memory().make_child("delete"));
  run_planned(planned, marked);
  TableRows kept(engine_.governor().process_account().make_child(fmt::format("table {}", name)));
  std::vector<Chunk> deleted;
  for (const Chunk& chunk : marked.held.chunks()) {
    const at::Tensor mask = chunk.column(mark).values();
    std::vector<Column> own(chunk.columns().begin(), chunk.columns().begin() + static_cast<std::ptrdiff_t>(mark));
    const Chunk whole(std::move(own), chunk.rows());
    if (node.returning != nullptr) deleted.push_back(select_rows(whole, mask));
    kept.add(select_rows(whole, mask.logical_not()));
  }
  const std::vector<TableColumnInfo> columns = table.columns();
  answer_changed_rows(name, columns, deleted, node.returning.get(), receiver);
  tables_[name] = kept.as_table(name, columns);
}

void Session::run(const std::shared_ptr<const ast::Statement>& statement, const ast::Truncate& node, ResultReceiver&) {
  for (const std::vector<std::string>& parts : node.tables) table_to_change(parts, "TRUNCATE", statement->position);
  for (const std::vector<std::string>& parts : node.tables) {
    const Table& table = table_to_change(parts, "TRUNCATE", statement->position);
    const std::vector<TableColumnInfo> columns = table.columns();
    tables_[table_key(parts)] = Table::of_chunks(table_key(parts), columns, {}, {});
  }
}

// `table` takes the place of the table with this name if it fulfils the rules. `changed`: its new rows.
void Session::replace_rows(const std::string& name, TablePtr table, const std::vector<Chunk>& changed, const ast::Query* returning,
                           ResultReceiver& receiver, int64_t position) {
  const TablePtr before = tables_.at(name);
  tables_[name] = table;
  try {
    check_keys(name, position);
    check_conditions(name, changed, position);
    answer_changed_rows(name, table->columns(), changed, returning, receiver);
  } catch (...) {
    tables_[name] = before;
    throw;
  }
}

// RETURNING: the query reads the changed rows under the table's name.
void Session::answer_changed_rows(const std::string& name, const std::vector<TableColumnInfo>& columns, const std::vector<Chunk>& changed,
                                  const ast::Query* returning, ResultReceiver& receiver) {
  if (returning == nullptr) return;
  with_rows(name, columns, changed, [&] {
    PlannedQuery planned = plan(*returning);
    LateBegin result(receiver);
    result.begin(planned.columns);
    run_planned(planned, result);
    result.end();
  });
}

// Calls `body` while the table has only these rows.
void Session::with_rows(const std::string& name, const std::vector<TableColumnInfo>& columns, const std::vector<Chunk>& rows,
                        const std::function<void()>& body) {
  struct Restore {
    TablePtr& place;
    TablePtr before;
    ~Restore() { place = std::move(before); }
  };
  TablePtr& place = tables_[name];
  const Restore restore{place, place};
  place = Table::of_chunks(name, columns, rows, {});
  body();
}

std::vector<std::vector<ScalarValue>> Session::rows_of(const std::string& sql) {
  const std::vector<ast::Statement> parsed = parse_sql(sql, token_);
  TableRows rows(scope_->operator_memory().make_child("rules"));
  run_planned(plan(*std::get<ast::SelectStatement>(parsed.front().node).query), rows);
  std::vector<std::vector<ScalarValue>> values;
  for (const Chunk& chunk : rows.held.chunks()) {
    for (int64_t row = 0; row < chunk.rows(); ++row) {
      std::vector<ScalarValue>& cells = values.emplace_back();
      for (const Column& column : chunk.columns()) cells.push_back(value_at(column, row));
    }
  }
  return values;
}

void Session::check_keys(const std::string& name, int64_t position) {
  for (const ast::TableRules::Key& key : rules_[name].keys) {
    std::vector<std::string> columns;
    std::vector<std::string> has_values;
    for (const std::string& column : key.columns) {
      columns.push_back(quoted_name(column));
      has_values.push_back(quoted_name(column) + " IS NOT NULL");
    }
    const std::string list = fmt::format("{}", fmt::join(columns, ", "));
    const auto twice = rows_of(fmt::format("SELECT {} FROM {} WHERE {} GROUP BY {} HAVING count(*) > 1 LIMIT 1", list, quoted_table(name),
                                           fmt::join(has_values, " AND "), list));
    if (twice.empty()) continue;
    std::vector<std::string> values;
    for (const ScalarValue& value : twice[0]) values.push_back(value.to_string());
    throw UserError(fmt::format("the table {} would have two rows with the same {} ({}): ({})", name,
                                key.is_primary ? "primary key" : "unique key", fmt::join(key.columns, ", "), fmt::join(values, ", ")),
                    position);
  }
}

void Session::check_conditions(const std::string& name, const std::vector<Chunk>& changed, int64_t position) {
  const std::vector<ast::TableRules::Check> checks = rules_[name].checks;
  if (checks.empty()) return;
  with_rows(name, tables_.at(name)->columns(), changed, [&] {
    for (const ast::TableRules::Check& check : checks) {
      const auto wrong = rows_of(fmt::format("SELECT count(*) FROM {} WHERE ({}) IS FALSE", quoted_table(name), check.condition));
      if (wrong[0][0].integer == 0) continue;
      throw UserError(fmt::format("a row of table {} would not fulfil CHECK ({})", name, without_brackets(check.condition)), position);
    }
  });
}

}  // namespace pistachio
