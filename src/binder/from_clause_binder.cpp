#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "binder/name_match.h"
#include "binder/query_binder.h"
#include "expr/function_table.h"
#include "expr/type_rules.h"

namespace pistachio {

namespace {

constexpr size_t kMostTables = 10'000;

// The name a file gets without an alias: its own, without folders and ending.
std::string name_of_path(const std::string& path) {
  std::string name = path.substr(path.find_last_of('/') + 1);
  size_t dot = name.find('.');
  if (dot != std::string::npos) name.resize(dot);
  return name.empty() || name.find('*') != std::string::npos ? "files" : name;
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

// Whether a plan uses columns of another one beside it.
bool refers_to(const LogicalNode& plan, const LogicalNode& other) {
  ColumnSet free = free_columns(plan);
  std::vector<ColumnId> given = output_columns(other);
  return std::any_of(given.begin(), given.end(), [&](ColumnId column) { return free.contains(column); });
}

}  // namespace

BoundFrom QueryBinder::join_tables(BoundFrom left, BoundFrom right) {
  bool dependent = refers_to(*right.plan, *left.plan);
  BoundFrom joined;
  joined.columns = std::move(left.columns);
  joined.columns.insert(joined.columns.end(), right.columns.begin(), right.columns.end());
  joined.plan = make_node(LogicalJoin{.kind = JoinKind::Inner, .dependent = dependent}, std::move(left.plan), std::move(right.plan));
  return joined;
}

BoundFrom QueryBinder::bind_from(const std::vector<ast::TableReferencePtr>& tables, const NameScope* outer) {
  BoundFrom all;
  for (const ast::TableReferencePtr& table : tables) {
    BoundFrom next = bind_table(*table, outer, all.plan ? &all : nullptr);
    for (const ScopeColumn& column : next.columns) {
      bool repeated = !column.table.empty() && std::any_of(all.columns.begin(), all.columns.end(),
                                                           [&](const ScopeColumn& other) { return other.table == column.table; });
      if (repeated) refuse_at(fmt::format("the table name {} appears twice in FROM: give one an alias", column.table), table->position);
    }
    all = all.plan ? join_tables(std::move(all), std::move(next)) : std::move(next);
  }
  if (!all.plan) all.plan = make_node(LogicalValues{{}, {{}}});
  return all;
}

BoundFrom QueryBinder::bind_scan(const TablePtr& table, const std::string& alias) {
  LogicalScan scan{.table = table};
  BoundFrom bound;
  for (size_t i = 0; i < table->columns().size(); ++i) {
    const TableColumnInfo& column = table->columns()[i];
    ColumnId id = columns_.add(column.name, column.type);
    if (column.unsupported.empty()) scan.columns.push_back({id, i});
    bound.columns.push_back({alias, column.name, id, false, column.unsupported});
  }
  bound.plan = make_node(std::move(scan));
  return bound;
}

// Whoever names one of these is told why it is not there.
void QueryBinder::add_left_out(const std::vector<LeftOutColumn>& left_out, const std::string& alias, BoundFrom& from) {
  for (const LeftOutColumn& column : left_out)
    from.columns.push_back({alias, column.name, columns_.add(column.name, TypeKind::Varchar), false, column.reason});
}

BoundFrom QueryBinder::from_query(BoundQuery bound, const std::string& alias) {
  BoundFrom from;
  // One column given twice (SELECT a, a) needs two ids.
  ColumnSet taken;
  std::vector<NamedExpression> columns;
  bool repeated = false;
  for (const OutputColumn& column : bound.output) {
    ColumnId id = column.id;
    if (!taken.insert(id).second) {
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

// The common table, view or table that an unquoted name without an exact match stands for: the only one that differs in case alone.
std::string QueryBinder::resolve_table_name(const ast::NamedTable& named, int64_t position) {
  const std::string& name = named.parts.back();
  std::vector<std::string> names = tables_.table_names();
  if (named.parts.size() == 1) {
    for (const CommonTableEntry& entry : common_tables_) names.push_back(entry.definition->name);
  }
  if (!may_be_unquoted(name)) return name;
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::erase_if(names, [&](const std::string& other) { return !matches_without_case(name, other); });
  if (names.size() > 1) {
    refuse_at(fmt::format("table {} is ambiguous: it may be \"{}\" or \"{}\"; write it in quotes", name, names[0], names[1]), position);
  }
  return names.empty() ? name : names[0];
}

BoundFrom QueryBinder::bind_named_table(const ast::TableReference& table, const ast::NamedTable& named) {
  if (std::optional<BoundFrom> bound = bind_table_of_name(table, named, named.parts.back())) return std::move(*bound);
  const std::string& name = named.parts.back();
  std::string other = resolve_table_name(named, table.position);
  if (other != name) {
    if (std::optional<BoundFrom> bound = bind_table_of_name(table, named, other)) return std::move(*bound);
  }
  std::vector<std::string> names = tables_.table_names();
  if (names.size() > 12) {
    names.resize(12);
    names.emplace_back("...");
  }
  refuse_at(fmt::format("there is no table {}; {}", name,
                        names.empty() ? "give a folder with -d, or name a file: FROM 'file.parquet'"
                                      : fmt::format("there are {}", fmt::join(names, ", "))),
            table.position);
}

std::optional<BoundFrom> QueryBinder::bind_table_of_name(const ast::TableReference& table, const ast::NamedTable& named,
                                                         const std::string& name) {
  const std::string& alias = table.alias.empty() ? name : table.alias;
  if (named.parts.size() == 1) {
    for (size_t i = common_tables_.size(); i-- > 0;) {
      if (common_tables_[i].definition->name == name) return bind_common_table_use(common_tables_[i], alias);
    }
  } else if (named.parts.size() > 2 || (named.parts[0] != "main" && named.parts[0] != "public")) {
    refuse_at(fmt::format("there is no schema {}: tables have plain names", named.parts[0]), table.position);
  }
  if (const ViewDefinition* view = tables_.find_view(name)) {
    if (std::find(open_views_.begin(), open_views_.end(), name) != open_views_.end())
      refuse_at(fmt::format("the view {} contains itself", name), table.position);
    open_views_.push_back(name);
    // A view sees tables and views, not the common tables of the query that uses it.
    std::vector<CommonTableEntry> around;
    std::swap(around, common_tables_);
    BoundQuery bound = with_position(table.position, [&] {
      try {
        return bind_query(*view->query, nullptr);
      } catch (const UserError& error) {
        throw UserError(bound_tables_ > kMostTables ? error.message() : fmt::format("view {}: {}", name, error.message()));
      }
    });
    std::swap(around, common_tables_);
    open_views_.pop_back();
    for (size_t i = 0; i < view->column_aliases.size() && i < bound.output.size(); ++i) bound.output[i].name = view->column_aliases[i];
    return from_query(std::move(bound), alias);
  }
  TablePtr found = with_position(table.position, [&] { return tables_.find_table(name); });
  if (!found) return std::nullopt;
  return bind_scan(found, alias);
}

void QueryBinder::rename_columns(BoundFrom& from, const ast::TableReference& table) const {
  if (!table.alias.empty()) {
    // Of a join with USING the alias names the merged columns. Those of its tables were reachable by the tables' names, which are hidden
    // now.
    std::erase_if(from.columns, [](const ScopeColumn& column) { return column.needs_table; });
    for (ScopeColumn& column : from.columns) column.table = table.alias;
  }
  if (table.column_aliases.size() > from.columns.size()) {
    refuse_at(fmt::format("{} has {} columns, but {} names are given", table.alias, from.columns.size(), table.column_aliases.size()),
              table.position);
  }
  for (size_t i = 0; i < table.column_aliases.size(); ++i) from.columns[i].name = table.column_aliases[i];
}

// A text has no more tables than words, but each use of a view is bound anew: views over views can double every time.
void QueryBinder::count_table(const ast::TableReference& table) {
  options_.token.throw_if_cancelled();
  if (std::holds_alternative<ast::JoinTable>(table.node) || ++bound_tables_ <= kMostTables) return;
  std::string views = open_views_.empty() ? "" : fmt::format(", counting those that the view {} is made of", open_views_.front());
  refuse_at(fmt::format("the statement reads more than {} tables and views{}; keep parts of it with CREATE TABLE AS", kMostTables, views),
            table.position);
}

BoundFrom QueryBinder::bind_table(const ast::TableReference& table, const NameScope* outer, const BoundFrom* before) {
  struct Visitor {
    QueryBinder& binder;
    const ast::TableReference& table;
    const NameScope* outer;
    const BoundFrom* before;

    BoundFrom operator()(const ast::NamedTable& node) { return binder.bind_named_table(table, node); }
    BoundFrom operator()(const ast::FileTable& node) {
      TablePtr opened = with_position(table.position, [&] { return binder.tables_.open_files({node.path}); });
      return binder.bind_scan(opened, table.alias.empty() ? name_of_path(node.path) : table.alias);
    }
    BoundFrom operator()(const ast::TableFunction& node) {
      if (node.name != "read_parquet")
        refuse_at(fmt::format("there is no table function {}; there is read_parquet", node.name), table.position);
      std::vector<std::string> paths;
      for (const ast::ExpressionPtr& argument : node.arguments) {
        ScalarValue path = bind_constant(*argument);
        if (path.is_null || path.type.kind() != TypeKind::Varchar) refuse_at("read_parquet takes paths as text", argument->position);
        paths.push_back(path.text);
      }
      if (paths.empty()) refuse_at("read_parquet needs a path", table.position);
      TablePtr opened = with_position(table.position, [&] { return binder.tables_.open_files(paths); });
      return binder.bind_scan(opened, table.alias.empty() ? "read_parquet" : table.alias);
    }
    BoundFrom operator()(const ast::SubqueryTable& node) {
      NameScope lateral(outer);
      if (node.lateral && before != nullptr) lateral.set_columns(before->columns);
      return binder.from_query(binder.bind_query(*node.query, node.lateral ? &lateral : outer), table.alias);
    }
    BoundFrom operator()(const ast::JoinTable& node) { return binder.bind_join(table, node, outer, before); }
  };
  count_table(table);
  BoundFrom bound = std::visit(Visitor{*this, table, outer, before}, table.node);
  rename_columns(bound, table);
  return bound;
}

LogicalPtr QueryBinder::bind_outer_join(const ast::JoinTable& join, const NameScope& scope, LogicalJoin node, LogicalPtr left,
                                        LogicalPtr right) {
  if (join.condition) {
    OuterJoinSides sides{.left = &left, .right = &right};
    if (node.kind == JoinKind::Left || node.kind == JoinKind::Semi || node.kind == JoinKind::Anti) sides.optional = &right;
    if (node.kind == JoinKind::Right) sides.optional = &left;
    ExpressionPlace place{.scope = &scope, .sides = &sides, .no_aggregate = "in an ON clause"};
    std::vector<ExpressionPtr> own = conjuncts_of(bind_condition(*join.condition, place, "ON"));
    node.conditions.insert(node.conditions.end(), own.begin(), own.end());
  }
  // A subquery that refers to both sides made one of them depend on the other: it then is as if it were LATERAL, which stands on the right.
  if (node.kind == JoinKind::Right && refers_to(*left, *right)) {
    std::swap(left, right);
    node.kind = JoinKind::Left;
  }
  node.dependent = refers_to(*right, *left);
  return make_node(std::move(node), std::move(left), std::move(right));
}

BoundFrom QueryBinder::bind_join(const ast::TableReference& table, const ast::JoinTable& join, const NameScope* outer,
                                 const BoundFrom* before) {
  using Kind = ast::JoinTable::Kind;
  BoundFrom left = bind_table(*join.left, outer, before);
  // LATERAL on the right sees the left side and what stands before the whole join: FROM a, b JOIN LATERAL (...).
  BoundFrom visible;
  visible.columns = left.columns;
  if (before != nullptr) visible.columns.insert(visible.columns.end(), before->columns.begin(), before->columns.end());
  BoundFrom right = bind_table(*join.right, outer, &visible);
  for (const ScopeColumn& column : right.columns) {
    bool repeated = !column.table.empty() && std::any_of(left.columns.begin(), left.columns.end(),
                                                         [&](const ScopeColumn& other) { return other.table == column.table; });
    if (repeated) refuse_at(fmt::format("the table name {} appears twice in FROM: give one an alias", column.table), join.right->position);
  }
  std::vector<std::string> shared = join.using_columns;
  const bool keeps_left = join.kind == Kind::Semi || join.kind == Kind::Anti;
  if (join.natural) {
    for (const ScopeColumn& column : left.columns) {
      auto is_joined = [](const ScopeColumn& own) { return !own.needs_table && own.unsupported.empty(); };
      bool in_right = std::any_of(right.columns.begin(), right.columns.end(),
                                  [&](const ScopeColumn& other) { return other.name == column.name && is_joined(other); });
      if (in_right && is_joined(column)) shared.push_back(column.name);
    }
  }
  NameScope left_scope(outer);
  left_scope.set_columns(left.columns);
  NameScope right_scope(outer);
  right_scope.set_columns(right.columns);
  LogicalJoin node;
  std::vector<ScopeColumn> merged;
  std::vector<NamedExpression> coalesced;
  for (const std::string& name : shared) {
    const ScopeColumn* first = left_scope.find_here({name}, table.position);
    const ScopeColumn* second = right_scope.find_here({name}, table.position);
    if (first == nullptr || second == nullptr)
      refuse_at(fmt::format("USING ({}): the {} side has no such column", name, first == nullptr ? "left" : "right"), table.position);
    for (const ScopeColumn* side : {first, second}) {
      if (!side->unsupported.empty())
        refuse_at(fmt::format("USING ({}): the column cannot be read: {}", name, side->unsupported), table.position);
    }
    ExpressionPtr left_value = columns_.reference(first->id);
    ExpressionPtr right_value = columns_.reference(second->id);
    node.conditions.push_back(make_call("=", {left_value, right_value}, table.position));
    ScopeColumn column{"", name, join.kind == Kind::Right ? second->id : first->id};
    if (join.kind == Kind::Full) {
      LogicalType type = common_type_of({left_value, right_value}, "USING", table.position);
      ExpressionPtr both = Expression::conditional(ExpressionKind::Coalesce, {coerce(left_value, type), coerce(right_value, type)}, type);
      column.id = columns_.add(name, type);
      coalesced.push_back({column.id, both});
    }
    if (!keeps_left) merged.push_back(column);
    if (keeps_left) continue;  // the left side's columns are the only ones
    for (std::vector<ScopeColumn>* side : {&left.columns, &right.columns}) {
      for (ScopeColumn& own : *side) own.needs_table = own.needs_table || own.id == first->id || own.id == second->id;
    }
  }
  BoundFrom bound;
  bound.columns = merged;
  bound.columns.insert(bound.columns.end(), left.columns.begin(), left.columns.end());
  bound.columns.insert(bound.columns.end(), right.columns.begin(), right.columns.end());
  NameScope scope(outer);
  scope.set_columns(bound.columns);
  switch (join.kind) {
    case Kind::Left: node.kind = JoinKind::Left; break;
    case Kind::Right: node.kind = JoinKind::Right; break;
    case Kind::Full: node.kind = JoinKind::Full; break;
    case Kind::Semi: node.kind = JoinKind::Semi; break;
    case Kind::Anti: node.kind = JoinKind::Anti; break;
    default: node.kind = JoinKind::Inner; break;
  }
  node.dependent = refers_to(*right.plan, *left.plan);
  if (node.dependent && node.kind != JoinKind::Inner && node.kind != JoinKind::Left)
    refuse_at("LATERAL can be joined with JOIN, LEFT JOIN and CROSS JOIN only", join.right->position);
  if (node.kind == JoinKind::Inner) {
    std::vector<ExpressionPtr> conditions = std::move(node.conditions);
    bound.plan = make_node(std::move(node), std::move(left.plan), std::move(right.plan));
    if (!conditions.empty()) bound.plan = make_node(LogicalFilter{std::move(conditions)}, std::move(bound.plan));
    if (join.condition) {
      ExpressionPlace place{.scope = &scope, .input = &bound.plan, .no_aggregate = "in an ON clause"};
      bind_filter(*join.condition, place, "ON");
    }
    return bound;
  }
  bound.plan = bind_outer_join(join, scope, std::move(node), std::move(left.plan), std::move(right.plan));
  if (keeps_left) {
    bound.columns = std::move(left.columns);
    return bound;
  }
  if (!coalesced.empty()) {
    for (ColumnId id : output_columns(*bound.plan)) coalesced.push_back({id, columns_.reference(id)});
    bound.plan = project(std::move(bound.plan), std::move(coalesced));
  }
  return bound;
}

}  // namespace pistachio
