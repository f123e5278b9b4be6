// Statements of a session that change the rows of tables in memory: INSERT, UPDATE, DELETE, TRUNCATE.
#include <ATen/core/Tensor.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "binder/name_match.h"
#include "columns/concatenate_columns.h"
#include "columns/decode_dictionary.h"
#include "columns/row_selection.h"
#include "engine/query_pipeline.h"
#include "expr/cast.h"
#include "expr/type_rules.h"
#include "kernels/ops/tensor_functions.h"
#include "session/changed_table.h"

namespace pistachio {

namespace {

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

// `places`: by column of the table, the inserted column; -1: the default.
void refuse_missing_values(const Table& table, const TableRules& rules, const std::vector<int>& places, int64_t position) {
  for (size_t i = 0; i < places.size(); ++i) {
    const TableColumnInfo& column = table.columns()[i];
    if (places[i] < 0 && column.not_null && !rules.defaults.contains(column.name))
      throw UserError(fmt::format("column {} of table {} is NOT NULL, and INSERT gives it no value", column.name, table.name()), position);
  }
}

// `changed` where the mask is true, else `old`.
Column merge_values(const Column& old, const Column& changed, const at::Tensor& mask) {
  const int64_t rows = old.rows();
  const Column both = concatenate_columns({decode_dictionary(old), decode_dictionary(changed)}, {});
  const at::Tensor own = at::arange(rows, at::kLong);
  return take_rows(both, at::where(mask, own + rows, own));
}

}  // namespace

void Session::run(const std::shared_ptr<const ast::Statement>& statement, const ast::Insert& node, ResultReceiver& receiver) {
  const int64_t position = statement->position;
  const ChangedTable target(*this, node.table, "INSERT", position);
  const std::vector<TableColumnInfo>& columns = target.columns();
  // By table column, the index of the inserted column; -1: the default.
  std::vector<int> places(columns.size(), -1);
  TableRows inserted(scope_->operator_memory().make_child("insert"));
  if (node.query != nullptr) {
    std::vector<size_t> targets = named_columns(node.columns, target.table(), position);
    for (size_t i = 0; node.columns.empty() && i < columns.size(); ++i) targets.push_back(i);
    std::vector<LogicalType> types;
    std::vector<std::string> names;
    for (size_t place : targets) {
      types.push_back(columns[place].type);
      names.push_back(columns[place].name);
    }
    PlannedQuery planned = plan(*node.query, std::move(types), std::move(names));
    if (planned.columns.size() != targets.size() && !(node.columns.empty() && planned.columns.size() < targets.size()))
      throw UserError(fmt::format("INSERT gives {} columns for {}", planned.columns.size(), targets.size()), position);
    for (size_t i = 0; i < planned.columns.size(); ++i) {
      places[targets[i]] = static_cast<int>(i);
      refuse_uncastable(planned.columns[i].type, columns[targets[i]], position);
    }
    refuse_missing_values(target.table(), target.rules(), places, position);
    run_planned(planned, inserted);
  } else {
    refuse_missing_values(target.table(), target.rules(), places, position);
    inserted.add(Chunk({}, 1, at::kCPU));
  }
  TableRows added = target.new_rows();
  for (const Chunk& chunk : inserted.held.chunks()) {
    std::vector<Column> made;
    for (size_t i = 0; i < places.size(); ++i) {
      made.push_back(places[i] < 0 ? target.default_column(columns[i], chunk.rows())
                                   : cast_column(chunk.column(static_cast<size_t>(places[i])), columns[i].type, {}));
      target.refuse_null(columns[i], made.back());
    }
    added.add(Chunk(std::move(made), chunk.rows()));
  }
  const std::vector<Chunk> new_rows = added.held.chunks();
  target.replace(added.append_to(target.table()), new_rows, node.returning.get(), receiver);
}

void Session::run(const std::shared_ptr<const ast::Statement>& statement, const ast::Update& node, ResultReceiver& receiver) {
  const int64_t position = statement->position;
  const ChangedTable target(*this, node.table, "UPDATE", position);
  const std::vector<TableColumnInfo> columns = target.columns();
  const std::vector<size_t> targets = named_columns(node.columns, target.table(), position);
  PlannedQuery planned = plan(*node.query);
  // The table's columns, whether the row is changed, the values.
  const size_t mark = columns.size();
  for (size_t i = 0; i < targets.size(); ++i) {
    if (!node.sets_default[i]) refuse_uncastable(planned.columns[mark + 1 + i].type, columns[targets[i]], position);
  }
  TableRows marked(scope_->operator_memory().make_child("update"));
  run_planned(planned, marked);
  TableRows kept = target.new_rows();
  std::vector<Chunk> changed;
  for (const Chunk& chunk : marked.held.chunks()) {
    const at::Tensor mask = chunk.column(mark).values();
    std::vector<Column> made(chunk.columns().begin(), chunk.columns().begin() + static_cast<std::ptrdiff_t>(mark));
    for (size_t i = 0; i < targets.size(); ++i) {
      const TableColumnInfo& column = columns[targets[i]];
      const Column value =
          node.sets_default[i] ? target.default_column(column, chunk.rows()) : cast_column(chunk.column(mark + 1 + i), column.type, {});
      made[targets[i]] = merge_values(made[targets[i]], value, mask);
      target.refuse_null(column, made[targets[i]]);
    }
    Chunk whole(std::move(made), chunk.rows());
    changed.push_back(select_rows(whole, mask));
    kept.add(whole);
  }
  target.replace(kept.as_table(target.key(), columns), changed, node.returning.get(), receiver);
}

void Session::run(const std::shared_ptr<const ast::Statement>& statement, const ast::Delete& node, ResultReceiver& receiver) {
  const int64_t position = statement->position;
  const ChangedTable target(*this, node.table, "DELETE", position);
  const std::vector<TableColumnInfo> columns = target.columns();
  const size_t mark = columns.size();
  PlannedQuery planned = plan(*node.query);
  TableRows marked(scope_->operator_memory().make_child("delete"));
  run_planned(planned, marked);
  TableRows kept = target.new_rows();
  std::vector<Chunk> deleted;
  for (const Chunk& chunk : marked.held.chunks()) {
    const at::Tensor mask = chunk.column(mark).values();
    std::vector<Column> own(chunk.columns().begin(), chunk.columns().begin() + static_cast<std::ptrdiff_t>(mark));
    const Chunk whole(std::move(own), chunk.rows());
    if (node.returning != nullptr) deleted.push_back(select_rows(whole, mask));
    kept.add(select_rows(whole, mask.logical_not()));
  }
  target.answer_changed_rows(deleted, node.returning.get(), receiver);
  target.put(kept.as_table(target.key(), columns));
}

void Session::run(const std::shared_ptr<const ast::Statement>& statement, const ast::Truncate& node, ResultReceiver&) {
  std::vector<ChangedTable> targets;
  for (const std::vector<std::string>& parts : node.tables) targets.emplace_back(*this, parts, "TRUNCATE", statement->position);
  for (const ChangedTable& target : targets) target.put(Table::of_chunks(target.key(), target.columns(), {}, {}));
}

}  // namespace pistachio
