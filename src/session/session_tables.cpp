// Statements of a session that create, change or drop tables and views.
#include <ATen/core/Tensor.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "binder/name_match.h"
#include "columns/row_selection.h"
#include "engine/query_pipeline.h"
#include "exec/core/held_chunks.h"
#include "expr/cast.h"
#include "expr/type_rules.h"
#include "session/session.h"

namespace pistachio {

namespace {

// Stores a result as an in-memory table.
class Keep final : public ResultReceiver {
 public:
  explicit Keep(MemoryAccount account) : held(std::move(account)) {}
  void begin(const std::vector<ResultColumn>&) override {}
  void add(const Chunk& chunk) override { held.add(chunk); }
  void end() override {}

  HeldChunks held;
};

std::vector<std::shared_ptr<const Reservation>> share(std::vector<Reservation> parts) {
  std::vector<std::shared_ptr<const Reservation>> shared;
  for (Reservation& part : parts) shared.push_back(std::make_shared<const Reservation>(std::move(part)));
  return shared;
}

bool has_nulls(const Column& column) {
  return column.has_validity() && !column.validity().all().item<bool>();
}

void refuse_surplus_names(std::string_view what, const std::string& name, size_t columns, size_t names, int64_t position) {
  if (names <= columns) return;
  throw UserError(fmt::format("the {} {} has {} columns, but {} names are given", what, name, columns, names), position);
}

std::string single_name(const std::vector<std::string>& parts) {
  return parts.back();
}

// The table's column that each value of an inserted row is for.
std::vector<size_t> inserted_columns(const ast::Insert& node, const Table& table, int64_t position) {
  std::vector<size_t> targets;
  if (node.columns.empty()) {
    for (size_t i = 0; i < table.columns().size(); ++i) targets.push_back(i);
    return targets;
  }
  for (const std::string& name : node.columns) {
    auto column =
        std::find_if(table.columns().begin(), table.columns().end(), [&](const TableColumnInfo& own) { return own.name == name; });
    auto is_alike = [&](const TableColumnInfo& own) { return may_be_unquoted(name) && matches_without_case(name, own.name); };
    if (column == table.columns().end() && std::count_if(table.columns().begin(), table.columns().end(), is_alike) == 1)
      column = std::find_if(table.columns().begin(), table.columns().end(), is_alike);
    if (column == table.columns().end()) throw UserError(fmt::format("the table {} has no column {}", table.name(), name), position);
    targets.push_back(static_cast<size_t>(column - table.columns().begin()));
    if (std::count(targets.begin(), targets.end(), targets.back()) > 1)
      throw UserError(fmt::format("column {} is given twice", name), position);
  }
  return targets;
}

}  // namespace

void Session::refuse_taken(const std::string& name, int64_t position) const {
  bool taken = tables_.contains(name) || views_.contains(name);
  if (taken) throw UserError(fmt::format("there is a table or view {} already; DROP it first", name), position);
}

void Session::run(const std::shared_ptr<const ast::Statement>& statement, const ast::CreateView& node, ResultReceiver&) {
  std::string name = single_name(node.name);
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
  std::string name = single_name(node.name);
  if (node.if_not_exists && (tables_.contains(name) || views_.contains(name))) return;
  refuse_taken(name, statement->position);
  std::vector<TableColumnInfo> columns;
  if (!node.query) {
    for (const ast::ColumnDefinition& column : node.columns)
      columns.push_back({column.name, resolve_type(column.type), "", column.not_null});
    tables_[name] = Table::of_chunks(name, std::move(columns), {}, {});
    return;
  }
  PlannedQuery planned = plan(*node.query);
  refuse_surplus_names("table", name, planned.columns.size(), node.column_aliases.size(), statement->position);
  for (size_t i = 0; i < planned.columns.size(); ++i) {
    bool renamed = i < node.column_aliases.size();
    columns.push_back({renamed ? node.column_aliases[i] : planned.columns[i].name, planned.columns[i].type, ""});
  }
  Keep keep(engine_.governor().process_account().make_child(fmt::format("table {}", name)));
  run_planned(planned, keep);
  tables_[name] = Table::of_chunks(name, std::move(columns), keep.held.take_chunks(), share(keep.held.take_memory()));
}

void Session::run(const std::shared_ptr<const ast::Statement>& statement, const ast::Insert& node, ResultReceiver&) {
  std::string name = single_name(node.table);
  auto found = tables_.find(name);
  if (found == tables_.end()) {
    throw UserError(fmt::format("INSERT needs a table in memory, which {} is not; CREATE TABLE {} ... makes one", name, name),
                    statement->position);
  }
  const Table& table = *found->second;
  std::vector<size_t> targets = inserted_columns(node, table, statement->position);
  std::vector<LogicalType> types;
  for (size_t target : targets) types.push_back(table.columns()[target].type);
  PlannedQuery planned = plan(*node.query, std::move(types));
  // By table column, the index of the inserted column; -1: NULL.
  std::vector<int> places(table.columns().size(), -1);
  if (planned.columns.size() != targets.size() && !(node.columns.empty() && planned.columns.size() < targets.size())) {
    throw UserError(fmt::format("INSERT gives {} columns for {}", planned.columns.size(), targets.size()), statement->position);
  }
  for (size_t i = 0; i < planned.columns.size(); ++i) {
    size_t target = targets[i];
    places[target] = static_cast<int>(i);
    if (!can_cast(planned.columns[i].type, table.columns()[target].type)) {
      throw UserError(fmt::format("column {} is {}, not {}", table.columns()[target].name, table.columns()[target].type.to_string(),
                                  planned.columns[i].type.to_string()),
                      statement->position);
    }
  }
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i] < 0 && table.columns()[i].not_null)
      throw UserError(fmt::format("column {} of table {} is NOT NULL, and INSERT gives it no value", table.columns()[i].name, name),
                      statement->position);
  }
  Keep keep(scope_->operator_memory().make_child("insert"));
  run_planned(planned, keep);
  HeldChunks added(engine_.governor().process_account().make_child(fmt::format("table {}", name)));
  for (const Chunk& chunk : keep.held.chunks()) {
    std::vector<Column> columns;
    for (size_t i = 0; i < places.size(); ++i) {
      LogicalType type = table.columns()[i].type;
      columns.push_back(places[i] < 0 ? null_column(type, chunk.rows(), at::kCPU)
                                      : cast_column(chunk.column(static_cast<size_t>(places[i])), type, {}));
      if (table.columns()[i].not_null && has_nulls(columns.back()))
        throw UserError(fmt::format("column {} of table {} is NOT NULL, and INSERT gives it a NULL", table.columns()[i].name, name),
                        statement->position);
    }
    added.add(Chunk(std::move(columns), chunk.rows()));
  }
  std::vector<Chunk> chunks = table.chunks();
  for (Chunk& chunk : added.take_chunks()) chunks.push_back(std::move(chunk));
  std::vector<std::shared_ptr<const Reservation>> memory = table.memory();
  for (std::shared_ptr<const Reservation>& part : share(added.take_memory())) memory.push_back(std::move(part));
  found->second = Table::of_chunks(name, table.columns(), std::move(chunks), std::move(memory));
}

void Session::run(const std::shared_ptr<const ast::Statement>& statement, const ast::Drop& node, ResultReceiver&) {
  for (const std::vector<std::string>& parts : node.names) {
    std::string name = single_name(parts);
    bool is_table = node.kind == ast::Drop::Kind::Table;
    bool done = is_table ? tables_.erase(name) > 0 : views_.erase(name) > 0;
    if (done || node.if_exists) continue;
    if (is_table && folder_tables_.contains(name))
      throw UserError(fmt::format("{} is a table of files: remove the files instead", name), statement->position);
    throw UserError(fmt::format("there is no {} {}", is_table ? "table" : "view", name), statement->position);
  }
}

}  // namespace pistachio
