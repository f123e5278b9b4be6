// FROM: tables, views, files, subqueries and joins.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/error.h"
#include "binder/common_tables.h"
#include "binder/file_functions.h"
#include "binder/name_match.h"
#include "binder/query_binder.h"
#include "expr/function_table.h"
#include "expr/type_rules.h"

namespace pistachio {

namespace {

constexpr size_t kMaxTables = 10'000;

// The default alias of a file: its name without folders and extension.
std::string name_of_path(const std::string& path) {
  std::string name = path.substr(path.find_last_of('/') + 1);
  size_t dot = name.find('.');
  if (dot != std::string::npos) name.resize(dot);
  return name.empty() || name.find('*') != std::string::npos ? "files" : name;
}

// COPY FROM: values are read as the types of the target's columns, JSON's members by their names.
void take_target_columns(ReadOptions& options, const BindOptions& target) {
  if (options.format == FileFormat::Csv && options.columns.empty()) options.listed_types = target.inserted;
  if (options.format != FileFormat::Json || !options.columns.empty()) return;
  for (size_t i = 0; i < target.inserted.size(); ++i) options.columns.push_back({target.inserted_names[i], target.inserted[i]});
}

template <typename Body>
auto with_position(int64_t position, const Body& body) {
  try {
    return body();
  } catch (const UserError& error) {
    if (error.position()) throw;
    refuse_at(error.message(), position);
  }
}

// Whether a plan uses columns of a sibling plan.
bool refers_to(const LogicalNode& plan, const LogicalNode& other) {
  ColumnSet free = free_columns(plan);
  if (free.empty()) return false;
  std::vector<ColumnId> given = output_columns(other);
  return std::any_of(given.begin(), given.end(), [&](ColumnId column) { return free.contains(column); });
}

// The cross product of all, as a balanced tree.
LogicalPtr multiply(std::vector<LogicalPtr> plans) {
  while (plans.size() > 1) {
    std::vector<LogicalPtr> halved;
    for (size_t i = 0; i + 1 < plans.size(); i += 2)
      halved.push_back(make_node(LogicalJoin{.kind = JoinKind::Inner}, std::move(plans[i]), std::move(plans[i + 1])));
    if (plans.size() % 2 == 1) halved.push_back(std::move(plans.back()));
    plans = std::move(halved);
  }
  return std::move(plans[0]);
}

JoinKind kind_of(ast::JoinTable::Kind kind) {
  switch (kind) {
    case ast::JoinTable::Kind::Left: return JoinKind::Left;
    case ast::JoinTable::Kind::Right: return JoinKind::Right;
    case ast::JoinTable::Kind::Full: return JoinKind::Full;
    case ast::JoinTable::Kind::Semi: return JoinKind::Semi;
    case ast::JoinTable::Kind::Anti: return JoinKind::Anti;
    default: return JoinKind::Inner;
  }
}

// A join whose columns keep the names of their tables.
bool is_bare_join(const ast::TableReference& table) {
  return std::holds_alternative<ast::JoinTable>(table.node) && table.alias.empty() && table.column_aliases.empty();
}

void refuse_repeated_table(const NameScope& scope, const BoundFrom& next, int64_t position) {
  const std::string* before = nullptr;
  for (const ScopeColumn& column : next.columns) {
    if (column.table.empty() || (before != nullptr && *before == column.table)) continue;
    before = &column.table;
    if (scope.has_table(column.table))
      refuse_at(fmt::format("the table name {} appears twice in FROM: give one an alias", column.table), position);
  }
}

void rename_columns(BoundFrom& from, const ast::TableReference& table) {
  if (!table.alias.empty()) {
    // The alias of a join with USING qualifies the merged columns. The columns of its tables were reachable by the tables' names, which are
    // now hidden.
    std::erase_if(from.columns, [](const ScopeColumn& column) { return column.needs_table; });
    for (ScopeColumn& column : from.columns) column.table = table.alias;
  }
  if (table.column_aliases.size() > from.columns.size()) {
    refuse_at(fmt::format("{} has {} columns, but {} names are given", table.alias, from.columns.size(), table.column_aliases.size()),
              table.position);
  }
  for (size_t i = 0; i < table.column_aliases.size(); ++i) from.columns[i].name = table.column_aliases[i];
}

}  // namespace

// The FROM clause of one SELECT while it is bound.
class QueryBinder::FromBinding {
 public:
  FromBinding(QueryBinder& binder, const NameScope* outer) : binder_(binder), outer_(outer) {}

  BoundFrom bind(const std::vector<ast::TableReferencePtr>& tables);

 private:
  BoundFrom bind_table(const ast::TableReference& table, const TablesBefore* before);
  void count_table(const ast::TableReference& table);

  // Tables, views and files.
  BoundFrom bind_named_table(const ast::TableReference& table, const ast::NamedTable& named);
  std::optional<BoundFrom> bind_table_of_name(const ast::TableReference& table, const ast::NamedTable& named, const std::string& name);
  std::string table_name_of(const ast::NamedTable& named, int64_t position) const;
  std::string resolve_table_name(const ast::NamedTable& named, int64_t position);
  BoundFrom bind_view(const ViewDefinition& view, const std::string& name, const std::string& alias, int64_t position);
  BoundFrom bind_scan(const TablePtr& table, const std::string& alias);
  BoundFrom bind_unlike_files(const std::vector<TablePtr>& tables, const std::string& alias);

  // Joins.
  BoundFrom bind_joins(const ast::TableReference& table, const TablesBefore* before);
  void bind_join(const ast::TableReference& table, const TablesBefore* before, NameScope& scope, LogicalPtr& plan);
  std::vector<NamedExpression> merge_columns(const ast::TableReference& table, const ast::JoinTable& join, std::vector<ScopeColumn> right,
                                             NameScope& scope, LogicalJoin& node);
  LogicalPtr bind_outer_join(const ast::JoinTable& join, const NameScope& scope, LogicalJoin node, LogicalPtr left, LogicalPtr right);

  QueryBinder& binder_;
  const NameScope* const outer_;  // the query around the SELECT
};

BoundFrom QueryBinder::bind_from(const std::vector<ast::TableReferencePtr>& tables, const NameScope* outer) {
  return FromBinding(*this, outer).bind(tables);
}

BoundFrom QueryBinder::FromBinding::bind(const std::vector<ast::TableReferencePtr>& tables) {
  std::vector<LogicalPtr> plans;  // to be combined by cross products
  NameScope scope(outer_);
  for (const ast::TableReferencePtr& table : tables) {
    TablesBefore before{&scope.columns()};
    BoundFrom next = bind_table(*table, plans.empty() ? nullptr : &before);
    refuse_repeated_table(scope, next, table->position);
    ColumnSet free = plans.empty() ? ColumnSet() : free_columns(*next.plan);
    bool dependent = std::any_of(free.begin(), free.end(), [&](ColumnId column) { return scope.find_id(column) != nullptr; });
    scope.add_columns(std::move(next.columns));
    if (dependent) {
      LogicalPtr left = multiply(std::move(plans));
      plans.clear();
      next.plan = make_node(LogicalJoin{.kind = JoinKind::Inner, .dependent = true}, std::move(left), std::move(next.plan));
    }
    plans.push_back(std::move(next.plan));
  }
  if (plans.empty()) plans.push_back(make_node(LogicalValues{{}, {{}}}));
  return {multiply(std::move(plans)), scope.take_columns()};
}

BoundFrom QueryBinder::FromBinding::bind_table(const ast::TableReference& table, const TablesBefore* before) {
  struct Visitor {
    FromBinding& from;
    QueryBinder& binder;
    const ast::TableReference& table;
    const TablesBefore* before;

    BoundFrom operator()(const ast::NamedTable& node) { return from.bind_named_table(table, node); }
    BoundFrom operator()(const ast::FileTable& node) {
      TablePtr opened = with_position(table.position, [&] { return binder.tables_.open_files({node.path}, {}); });
      return from.bind_scan(opened, table.alias.empty() ? name_of_path(node.path) : table.alias);
    }
    BoundFrom operator()(const ast::TableFunction& node) {
      if (is_series(node.name)) return binder.bind_series(node, table.alias, table.position);
      std::optional<FileFunction> files = bind_file_function(node, table.position, binder.options_.token);
      if (!files) {
        refuse_at(fmt::format("there is no table function {}; there are {}, generate_series and range", node.name, file_function_names()),
                  table.position);
      }
      if (node.is_copy) take_target_columns(files->options, binder.options_);
      const std::string& alias = table.alias.empty() ? node.name : table.alias;
      if (files->options.format == FileFormat::Parquet && files->options.union_by_name) {
        return with_position(table.position,
                             [&] { return from.bind_unlike_files(binder.tables_.open_unlike_files(files->paths, files->options), alias); });
      }
      TablePtr opened = with_position(table.position, [&] { return binder.tables_.open_files(files->paths, files->options); });
      return from.bind_scan(opened, alias);
    }
    BoundFrom operator()(const ast::SubqueryTable& node) {
      NameScope lateral(from.outer_);
      if (node.lateral) {
        for (const TablesBefore* seen = before; seen != nullptr; seen = seen->around) lateral.add_columns(*seen->columns);
      }
      return binder.from_query(binder.bind_query(*node.query, node.lateral ? &lateral : from.outer_), table.alias);
    }
    BoundFrom operator()(const ast::JoinTable&) { return from.bind_joins(table, before); }
  };
  count_table(table);
  BoundFrom bound = std::visit(Visitor{*this, binder_, table, before}, table.node);
  rename_columns(bound, table);
  return bound;
}

// A statement has at most one table per token, but each use of a view is bound again: nested views can grow exponentially.
void QueryBinder::FromBinding::count_table(const ast::TableReference& table) {
  stop_if_cancelled(binder_.options_.token);
  if (std::holds_alternative<ast::JoinTable>(table.node) || ++binder_.bound_tables_ <= kMaxTables) return;
  const std::vector<std::string>& open = binder_.open_views_;
  std::string views = open.empty() ? "" : fmt::format(", counting those that the view {} is made of", open.front());
  refuse_at(fmt::format("the statement reads more than {} tables and views{}; keep parts of it with CREATE TABLE AS", kMaxTables, views),
            table.position);
}

BoundFrom QueryBinder::FromBinding::bind_named_table(const ast::TableReference& table, const ast::NamedTable& named) {
  const std::string name = table_name_of(named, table.position);
  if (std::optional<BoundFrom> bound = bind_table_of_name(table, named, name)) return std::move(*bound);
  if (TablePtr system = binder_.tables_.find_system_table(named.parts))
    return bind_scan(system, table.alias.empty() ? named.parts.back() : table.alias);
  std::string other = resolve_table_name(named, table.position);
  if (other != name) {
    if (std::optional<BoundFrom> bound = bind_table_of_name(table, named, other)) return std::move(*bound);
  }
  std::vector<std::string> names = binder_.tables_.table_names();
  if (names.size() > 12) {
    names.resize(12);
    names.emplace_back("...");
  }
  refuse_at(fmt::format("there is no table {}; {}", name,
                        names.empty() ? "give a folder with -d, or name a file: FROM 'file.parquet'"
                                      : fmt::format("there are {}", fmt::join(names, ", "))),
            table.position);
}

// main.t and public.t are t; tables of other schemas have the schema in their name.
std::string QueryBinder::FromBinding::table_name_of(const ast::NamedTable& named, int64_t position) const {
  const std::vector<std::string>& parts = named.parts;
  if (parts.size() > 2) refuse_at(fmt::format("there is no schema {}: names have at most two parts", parts[0]), position);
  if (parts.size() == 1 || parts[0] == "main" || parts[0] == "public" || parts[0] == "temp") return parts.back();
  if (!binder_.tables_.has_schema(parts[0])) refuse_at(fmt::format("there is no schema {}; CREATE SCHEMA makes one", parts[0]), position);
  return parts[0] + "." + parts[1];
}

std::optional<BoundFrom> QueryBinder::FromBinding::bind_table_of_name(const ast::TableReference& table, const ast::NamedTable& named,
                                                                      const std::string& name) {
  const std::string alias = table.alias.empty() ? name.substr(named.parts.size() == 1 ? 0 : name.find('.') + 1) : table.alias;
  if (named.parts.size() == 1) {
    std::optional<BoundFrom> common = binder_.common_tables_->use(name, alias);
    if (common) return common;
  }
  if (const ViewDefinition* view = binder_.tables_.find_view(name)) return bind_view(*view, name, alias, table.position);
  TablePtr found = with_position(table.position, [&] { return binder_.tables_.find_table(name); });
  if (!found) return std::nullopt;
  return bind_scan(found, alias);
}

// The unique case-insensitive match of an unquoted name among CTEs, views and tables.
std::string QueryBinder::FromBinding::resolve_table_name(const ast::NamedTable& named, int64_t position) {
  const std::string name = table_name_of(named, position);
  std::vector<std::string> names = binder_.tables_.table_names();
  if (named.parts.size() == 1) binder_.common_tables_->add_names(names);
  if (!may_be_unquoted(name)) return name;
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::erase_if(names, [&](const std::string& other) { return !matches_without_case(name, other); });
  if (names.size() > 1) {
    refuse_at(fmt::format("table {} is ambiguous: it may be \"{}\" or \"{}\"; write it in quotes", name, names[0], names[1]), position);
  }
  return names.empty() ? name : names[0];
}

BoundFrom QueryBinder::FromBinding::bind_view(const ViewDefinition& view, const std::string& name, const std::string& alias,
                                              int64_t position) {
  if (std::find(binder_.open_views_.begin(), binder_.open_views_.end(), name) != binder_.open_views_.end())
    refuse_at(fmt::format("the view {} contains itself", name), position);
  binder_.open_views_.push_back(name);
  // A view sees tables and views, but not the CTEs of the query that uses it.
  BoundQuery bound = with_position(position, [&] {
    try {
      return binder_.common_tables_->without_tables([&] { return binder_.bind_query(*view.query, nullptr); });
    } catch (const UserError& error) {
      // The error names the innermost view, except for limits, which concern the whole statement.
      bool is_limit = binder_.bound_tables_ > kMaxTables || binder_.open_queries_ >= kMaxNestedQueries;
      bool is_named = std::exchange(binder_.view_is_named_, true) || is_limit;
      throw UserError(is_named ? error.message() : fmt::format("view {}: {}", name, error.message()));
    }
  });
  binder_.open_views_.pop_back();
  for (size_t i = 0; i < view.column_aliases.size() && i < bound.output.size(); ++i) bound.output[i].name = view.column_aliases[i];
  return binder_.from_query(std::move(bound), alias);
}

BoundFrom QueryBinder::FromBinding::bind_scan(const TablePtr& table, const std::string& alias) {
  LogicalScan scan{.table = table};
  BoundFrom bound;
  for (size_t i = 0; i < table->columns().size(); ++i) {
    const TableColumnInfo& column = table->columns()[i];
    ColumnId id = binder_.columns_.add(column.name, column.type);
    if (column.unsupported.empty()) scan.columns.push_back({id, i});
    bound.columns.push_back({alias, column.name, id, false, column.unsupported});
  }
  bound.plan = make_node(std::move(scan));
  return bound;
}

namespace {

// The columns of several tables by name: first those in the files, then partition values and file names.
class NamedColumns {
 public:
  struct Entry {
    std::string name;
    LogicalType type;
    std::string unsupported;
    std::vector<std::optional<size_t>> sources;  // by table
  };

  explicit NamedColumns(const std::vector<TablePtr>& tables) {
    for (bool is_partition : {false, true}) {
      for (size_t table = 0; table < tables.size(); ++table) add(*tables[table], table, tables.size(), is_partition);
    }
  }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  void add(const Table& table, size_t number, size_t tables, bool is_partition) {
    for (size_t i = 0; i < table.columns().size(); ++i) {
      const TableColumnInfo& column = table.columns()[i];
      if ((table.files().columns[i].partition >= 0) != is_partition) continue;
      auto entry = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& known) {
        return !known.sources[number] && fold_name(known.name) == fold_name(column.name);
      });
      if (entry == entries_.end()) {
        entries_.push_back({column.name, column.type, column.unsupported, std::vector<std::optional<size_t>>(tables)});
        entry = entries_.end() - 1;
      }
      entry->sources[number] = i;
      if (entry->unsupported.empty()) entry->unsupported = column.unsupported;
      if (!entry->unsupported.empty()) continue;
      const std::optional<LogicalType> common = common_type(entry->type, column.type);
      if (!common)
        throw UserError(
            fmt::format("column {} is {} in some files and {} in others", column.name, entry->type.to_string(), column.type.to_string()));
      entry->type = *common;
    }
  }

  std::vector<Entry> entries_;
};

}  // namespace

// union_by_name: UNION ALL of the tables, where a column that a table lacks is NULL and types are widened.
BoundFrom QueryBinder::FromBinding::bind_unlike_files(const std::vector<TablePtr>& tables, const std::string& alias) {
  if (tables.size() == 1) return bind_scan(tables[0], alias);
  const NamedColumns named(tables);
  std::vector<SetOperand> operands;
  for (size_t number = 0; number < tables.size(); ++number) {
    BoundFrom scan = bind_scan(tables[number], alias);
    std::vector<NamedExpression> columns;
    SetOperand operand;
    for (const NamedColumns::Entry& entry : named.entries()) {
      if (!entry.unsupported.empty()) continue;
      const std::optional<size_t> source = entry.sources[number];
      ExpressionPtr value = source ? coerce(binder_.columns_.reference(scan.columns[*source].id), entry.type)
                                   : Expression::constant(ScalarValue::null(entry.type), -1);
      operand.columns.push_back(binder_.columns_.add(entry.name, entry.type));
      columns.push_back({operand.columns.back(), std::move(value)});
    }
    operand.plan = make_node(LogicalProject{.columns = std::move(columns)}, std::move(scan.plan));
    operands.push_back(std::move(operand));
  }
  // Balanced, so that many files nest little.
  while (operands.size() > 1) {
    std::vector<SetOperand> halved;
    for (size_t i = 0; i + 1 < operands.size(); i += 2)
      halved.push_back(
          binder_.combine_two(LogicalSetOperation::Kind::Union, /*all=*/true, std::move(operands[i]), std::move(operands[i + 1])));
    if (operands.size() % 2 == 1) halved.push_back(std::move(operands.back()));
    operands = std::move(halved);
  }
  BoundFrom bound;
  size_t place = 0;
  for (const NamedColumns::Entry& entry : named.entries()) {
    const bool is_readable = entry.unsupported.empty();
    const ColumnId id = is_readable ? operands[0].columns[place++] : binder_.columns_.add(entry.name, entry.type);
    bound.columns.push_back({alias, entry.name, id, false, entry.unsupported});
  }
  bound.plan = std::move(operands[0].plan);
  return bound;
}

// A chain of joins is left-deep: descend in a loop, then add its tables to one scope one after the other.
BoundFrom QueryBinder::FromBinding::bind_joins(const ast::TableReference& table, const TablesBefore* before) {
  std::vector<const ast::TableReference*> joins = {&table};
  const ast::TableReference* first = std::get<ast::JoinTable>(table.node).left.get();
  for (; is_bare_join(*first); first = std::get<ast::JoinTable>(first->node).left.get()) joins.push_back(first);
  BoundFrom left = bind_table(*first, before);
  LogicalPtr plan = std::move(left.plan);
  NameScope scope(outer_);
  scope.set_columns(std::move(left.columns));
  for (size_t i = joins.size(); i-- > 0;) {
    stop_if_cancelled(binder_.options_.token);
    bind_join(*joins[i], before, scope, plan);
  }
  return {std::move(plan), scope.take_columns()};
}

// `scope` and `plan` belong to the left side on entry and to the join on return.
void QueryBinder::FromBinding::bind_join(const ast::TableReference& table, const TablesBefore* before, NameScope& scope,
                                         LogicalPtr& plan) {
  const auto& join = std::get<ast::JoinTable>(table.node);
  // LATERAL on the right sees the left side and the tables before the whole join: FROM a, b JOIN LATERAL (...).
  TablesBefore visible{&scope.columns(), before};
  BoundFrom right = bind_table(*join.right, &visible);
  refuse_repeated_table(scope, right, join.right->position);
  LogicalJoin node{.kind = kind_of(join.kind)};
  const bool keeps_left = node.kind == JoinKind::Semi || node.kind == JoinKind::Anti;
  const size_t left_columns = scope.columns().size();
  std::vector<NamedExpression> coalesced;
  if (join.natural || !join.using_columns.empty()) {
    coalesced = merge_columns(table, join, std::move(right.columns), scope, node);
  } else {
    scope.add_columns(std::move(right.columns));
  }
  node.dependent = refers_to(*right.plan, *plan);
  if (node.dependent && node.kind != JoinKind::Inner && node.kind != JoinKind::Left)
    refuse_at("LATERAL can be joined with JOIN, LEFT JOIN and CROSS JOIN only", join.right->position);
  if (node.kind == JoinKind::Inner) {
    std::vector<ExpressionPtr> conditions = std::move(node.conditions);
    plan = make_node(std::move(node), std::move(plan), std::move(right.plan));
    if (!conditions.empty()) plan = make_node(LogicalFilter{std::move(conditions)}, std::move(plan));
    if (!join.condition) return;
    ExpressionPlace place{.scope = &scope, .input = &plan, .no_aggregate = "in an ON clause"};
    binder_.bind_filter(*join.condition, place, "ON");
    return;
  }
  plan = bind_outer_join(join, scope, std::move(node), std::move(plan), std::move(right.plan));
  if (keeps_left) scope.drop_columns_after(left_columns);
  if (coalesced.empty()) return;
  plan = make_node(LogicalProject{.columns = std::move(coalesced), .keeps_input = true}, std::move(plan));
}

namespace {

// A pair of columns that USING or NATURAL joins. The columns are known for NATURAL only; USING looks them up by name.
struct SharedColumn {
  std::string name;
  const ScopeColumn* left = nullptr;
  const ScopeColumn* right = nullptr;
};

std::vector<SharedColumn> named_by_using(const std::vector<std::string>& names, int64_t position) {
  std::vector<SharedColumn> shared;
  std::set<std::string_view> named;
  for (const std::string& name : names) {
    if (!named.insert(name).second) refuse_at(fmt::format("USING names {} twice", name), position);
    shared.push_back({name});
  }
  return shared;
}

// Names match like an unquoted name in USING: exactly, or, if no name does, with the only one that differs in case.
std::vector<SharedColumn> shared_by_both(const NameScope& left, const NameScope& right) {
  auto is_joined = [](const ScopeColumn& own) { return !own.needs_table && own.unsupported.empty(); };
  std::set<std::string_view> in_right;
  std::map<std::string, std::vector<const ScopeColumn*>> alike_left;
  std::map<std::string, std::vector<const ScopeColumn*>> alike_right;
  for (const ScopeColumn& column : right.columns()) {
    if (!is_joined(column)) continue;
    in_right.insert(column.name);
    alike_right[fold_name(column.name)].push_back(&column);
  }
  for (const ScopeColumn& column : left.columns()) {
    if (is_joined(column)) alike_left[fold_name(column.name)].push_back(&column);
  }
  std::vector<SharedColumn> shared;
  for (const ScopeColumn& column : left.columns()) {
    if (!is_joined(column)) continue;
    const std::string folded = fold_name(column.name);
    const std::vector<const ScopeColumn*>& right_alike = alike_right[folded];
    if (in_right.contains(column.name)) {
      shared.push_back({column.name});
    } else if (right_alike.size() == 1 && alike_left[folded].size() == 1) {
      shared.push_back({column.name, &column, right_alike[0]});
    }
  }
  return shared;
}

}  // namespace

// USING and NATURAL: adds the join conditions, and one merged column per pair before the columns of both sides, which then need their
// table's name. Returns the expressions of the merged columns of a FULL JOIN.
std::vector<NamedExpression> QueryBinder::FromBinding::merge_columns(const ast::TableReference& table, const ast::JoinTable& join,
                                                                     std::vector<ScopeColumn> right, NameScope& scope, LogicalJoin& node) {
  NameScope right_scope(scope.parent());
  right_scope.set_columns(std::move(right));
  const std::vector<SharedColumn> shared =
      join.natural ? shared_by_both(scope, right_scope) : named_by_using(join.using_columns, table.position);
  const bool keeps_left = node.kind == JoinKind::Semi || node.kind == JoinKind::Anti;
  std::vector<ScopeColumn> merged;
  std::vector<NamedExpression> coalesced;
  ColumnSet paired;
  for (const auto& [name, left_column, right_column] : shared) {
    const ScopeColumn* first = left_column != nullptr ? left_column : scope.find_here({name}, table.position);
    const ScopeColumn* second = right_column != nullptr ? right_column : right_scope.find_here({name}, table.position);
    if (first == nullptr || second == nullptr)
      refuse_at(fmt::format("USING ({}): the {} side has no such column", name, first == nullptr ? "left" : "right"), table.position);
    for (const ScopeColumn* side : {first, second}) {
      if (!side->unsupported.empty())
        refuse_at(fmt::format("USING ({}): the column cannot be read: {}", name, side->unsupported), table.position);
    }
    ExpressionPtr left_value = binder_.columns_.reference(first->id);
    ExpressionPtr right_value = binder_.columns_.reference(second->id);
    node.conditions.push_back(make_call("=", {left_value, right_value}, table.position));
    ScopeColumn column{"", name, node.kind == JoinKind::Right ? second->id : first->id};
    if (node.kind == JoinKind::Full) {
      LogicalType type = common_type_of({left_value, right_value}, "USING", table.position);
      ExpressionPtr both = Expression::conditional(ExpressionKind::Coalesce, {coerce(left_value, type), coerce(right_value, type)}, type);
      column.id = binder_.columns_.add(name, type);
      coalesced.push_back({column.id, both});
    }
    if (keeps_left) continue;  // only the left side's columns remain
    merged.push_back(column);
    paired.insert(first->id);
    paired.insert(second->id);
  }
  auto hide_paired = [&](std::vector<ScopeColumn> side) {
    for (ScopeColumn& own : side) own.needs_table = own.needs_table || paired.contains(own.id);
    return side;
  };
  if (!scope.replace_merged(merged)) {
    std::vector<ScopeColumn> left = hide_paired(scope.take_columns());
    scope.set_columns(std::move(merged));
    scope.add_columns(std::move(left));
  }
  scope.add_columns(hide_paired(right_scope.take_columns()));
  return coalesced;
}

LogicalPtr QueryBinder::FromBinding::bind_outer_join(const ast::JoinTable& join, const NameScope& scope, LogicalJoin node, LogicalPtr left,
                                                     LogicalPtr right) {
  if (join.condition) {
    OuterJoinSides sides{.left = &left, .right = &right};
    if (node.kind == JoinKind::Left || node.kind == JoinKind::Semi || node.kind == JoinKind::Anti) sides.optional = &right;
    if (node.kind == JoinKind::Right) sides.optional = &left;
    ExpressionPlace place{.scope = &scope, .sides = &sides, .no_aggregate = "in an ON clause"};
    std::vector<ExpressionPtr> own = conjuncts_of(binder_.bind_condition(*join.condition, place, "ON"));
    node.conditions.insert(node.conditions.end(), own.begin(), own.end());
  }
  // A subquery that refers to both sides makes one depend on the other, like LATERAL, which must be on the right.
  if (node.kind == JoinKind::Right && join.condition && refers_to(*left, *right)) {
    std::swap(left, right);
    node.kind = JoinKind::Left;
  }
  node.dependent = refers_to(*right, *left);
  return make_node(std::move(node), std::move(left), std::move(right));
}

// Kept in the scope, so that an error can say why the column cannot be read.
void QueryBinder::add_left_out(const std::vector<OmittedColumn>& left_out, const std::string& alias, BoundFrom& from) {
  for (const OmittedColumn& column : left_out)
    from.columns.push_back({alias, column.name, columns_.add(column.name, TypeKind::Varchar), false, column.reason});
}

BoundFrom QueryBinder::from_query(BoundQuery bound, const std::string& alias) {
  BoundFrom from;
  // A column that occurs twice (SELECT a, a) needs two ids.
  ColumnSet taken;
  std::vector<NamedExpression> columns;
  bool repeated = false;
  for (const OutputColumn& column : bound.output) {
    ColumnId id = column.id;
    if (!taken.insert(id)) {
      id = columns_.add(column.name, columns_.type(column.id));
      repeated = true;
    }
    columns.push_back({id, columns_.reference(column.id)});
    from.columns.push_back({alias, column.name, id});
  }
  add_left_out(bound.left_out, alias, from);
  from.plan = repeated ? project(std::move(bound.plan), std::move(columns)) : std::move(bound.plan);
  return from;
}

}  // namespace pistachio
