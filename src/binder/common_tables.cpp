#include "binder/common_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "binder/syntax_walk.h"
#include "expr/type_rules.h"

namespace pistachio {

namespace {

void check_aliases(const ast::CommonTable& table, size_t columns) {
  if (table.column_aliases.size() <= columns) return;
  refuse_at(fmt::format("{} has {} columns, but {} names are given", table.name, columns, table.column_aliases.size()), table.position);
}

// `first UNION [ALL] next`, where next reads the table itself.
bool is_recursive(const ast::CommonTable& table) {
  const auto* operation = std::get_if<ast::SetOperation>(&table.query->body);
  return operation != nullptr && operation->kind == ast::SetOperation::Kind::Union && reads_table(*operation->right, table.name);
}

}  // namespace

void QueryBinder::CommonTables::bind(const ast::Query& query, const NameScope* outer) {
  std::set<std::string_view> names;
  for (const ast::CommonTable& table : query.with) {
    if (!names.insert(table.name).second) refuse_at(fmt::format("WITH names {} twice", table.name), table.position);
    bool recursive = query.recursive && is_recursive(table);
    BoundQuery bound = recursive ? bind_recursive(table, outer) : binder_.bind_query(*table.query, outer);
    check_aliases(table, bound.output.size());
    for (size_t i = 0; i < table.column_aliases.size(); ++i) bound.output[i].name = table.column_aliases[i];
    Entry entry{.definition = &table, .scope = outer, .visible = entries_.size()};
    entry.correlated = !free_columns(*bound.plan).empty();
    if (entry.correlated && recursive) refuse_at("WITH RECURSIVE cannot refer to the outer query", table.position);
    if (!entry.correlated) {
      entry.shared = binder_.shared_.size();
      entry.output = bound.output;
      entry.left_out = std::move(bound.left_out);
      binder_.shared_.push_back(std::move(bound.plan));
    }
    entries_.push_back(std::move(entry));
  }
}

// In the second part of the UNION the table refers to the rows of the previous round. The first part alone determines the column types.
BoundQuery QueryBinder::CommonTables::bind_recursive(const ast::CommonTable& table, const NameScope* outer) {
  const ast::Query& query = *table.query;
  const auto* operation = std::get_if<ast::SetOperation>(&query.body);
  size_t visible = entries_.size();
  bind(query, outer);
  BoundQuery first = binder_.bind_query(*operation->left, outer);
  check_aliases(table, first.output.size());

  LogicalSetOperation node{.kind = LogicalSetOperation::Kind::Union, .all = operation->all, .working_table = binder_.shared_.size()};
  binder_.shared_.push_back(nullptr);
  BoundQuery bound;
  for (size_t i = 0; i < first.output.size(); ++i) {
    const std::string& name = i < table.column_aliases.size() ? table.column_aliases[i] : first.output[i].name;
    ColumnId id = binder_.columns_.add(name, binder_.columns_.type(first.output[i].id));
    node.columns.push_back(id);
    bound.output.push_back({id, name});
  }
  Entry itself{.definition = &table, .shared = *node.working_table, .is_working_table = true, .output = bound.output};
  entries_.push_back(std::move(itself));
  BoundQuery next = binder_.bind_query(*operation->right, outer);
  entries_.resize(visible);
  // Rounds that do not depend on the previous one would never end.
  ENSURE(read_working_tables_.contains(*node.working_table), "{} does not read itself", table.name);

  if (!query.order_by.empty() || query.limit || query.offset)
    refuse_at("ORDER BY, LIMIT and OFFSET cannot be used in the UNION of WITH RECURSIVE", table.position);
  if (next.output.size() != first.output.size())
    refuse_at(fmt::format("{}: UNION of {} and {} columns", table.name, first.output.size(), next.output.size()), table.position);
  std::vector<NamedExpression> first_columns;
  std::vector<NamedExpression> next_columns;
  for (size_t i = 0; i < node.columns.size(); ++i) {
    LogicalType type = binder_.columns_.type(node.columns[i]);
    LogicalType next_type = binder_.columns_.type(next.output[i].id);
    if (!next.is_untyped(next.output[i].id) && !casts_implicitly(next_type, type)) {
      refuse_at(fmt::format("{}: column {} is {} in the first part and {} in the recursive one: cast one of them", table.name, i + 1,
                            type.to_string(), next_type.to_string()),
                table.position);
    }
    auto add = [&](ColumnId source, std::vector<NamedExpression>& columns, std::vector<ColumnId>& ids) {
      ids.push_back(binder_.columns_.add(bound.output[i].name, type));
      columns.push_back({ids.back(), coerce(binder_.columns_.reference(source), type)});
    };
    add(first.output[i].id, first_columns, node.left_columns);
    add(next.output[i].id, next_columns, node.right_columns);
  }
  LogicalPtr left = binder_.project(std::move(first.plan), std::move(first_columns));
  LogicalPtr right = binder_.project(std::move(next.plan), std::move(next_columns));
  bound.plan = make_node(std::move(node), std::move(left), std::move(right));
  return bound;
}

std::optional<BoundFrom> QueryBinder::CommonTables::use(const std::string& name, const std::string& alias) {
  const auto found = std::find_if(entries_.rbegin(), entries_.rend(), [&](const Entry& entry) { return entry.definition->name == name; });
  if (found == entries_.rend()) return std::nullopt;
  return found->correlated ? bind_again(*found, alias) : read(*found, alias);
}

BoundFrom QueryBinder::CommonTables::bind_again(const Entry& entry, const std::string& alias) {
  const ast::CommonTable* definition = entry.definition;
  const NameScope* scope = entry.scope;
  std::vector<Entry> all = entries_;
  entries_.resize(entry.visible);
  BoundQuery bound = binder_.bind_query(*definition->query, scope);
  entries_ = std::move(all);
  for (size_t i = 0; i < definition->column_aliases.size() && i < bound.output.size(); ++i)
    bound.output[i].name = definition->column_aliases[i];
  return binder_.from_query(std::move(bound), alias);
}

BoundFrom QueryBinder::CommonTables::read(const Entry& entry, const std::string& alias) {
  if (entry.is_working_table) read_working_tables_.insert(entry.shared);
  LogicalSharedRead read{.shared = entry.shared, .is_working_table = entry.is_working_table};
  BoundFrom from;
  for (const OutputColumn& column : entry.output) {
    ColumnId id = binder_.columns_.add(column.name, binder_.columns_.type(column.id));
    read.columns.push_back(id);
    read.sources.push_back(column.id);
    from.columns.push_back({alias, column.name, id});
  }
  binder_.add_left_out(entry.left_out, alias, from);
  from.plan = make_node(std::move(read));
  return from;
}

}  // namespace pistachio
