#include "binder/name_scope.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/edit_distance.h"
#include "base/error.h"
#include "binder/name_match.h"

namespace pistachio {

namespace {

std::string written(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, "."));
}

std::string end_of(const std::vector<std::string>& parts) {
  return written({parts.begin() + 1, parts.end()});
}

// Struct leaves are columns whose names have dots: a.b may be table.column or the leaf a.b of some table.
bool matches_exactly(const ScopeColumn& column, const std::vector<std::string>& parts) {
  if (column.name == written(parts)) return parts.size() > 1 || !column.needs_table;
  return parts.size() > 1 && column.table == parts[0] && column.name == end_of(parts);
}

bool matches_folded(const ScopeColumn& column, const std::vector<std::string>& parts) {
  if (matches_without_case(written(parts), column.name)) return parts.size() > 1 || !column.needs_table;
  return parts.size() > 1 && matches_without_case(parts[0], column.table) && matches_without_case(end_of(parts), column.name);
}

// Names contain no zero byte.
std::string qualified_key(std::string_view table, std::string_view name) {
  return fold_name(table) + '\0' + fold_name(name);
}

std::string place_of(const ScopeColumn& column) {
  return column.table.empty() ? "a join" : column.table;
}

}  // namespace

void NameScope::set_columns(std::vector<ScopeColumn> columns) {
  columns_ = std::move(columns);
  forget_index();
}

void NameScope::forget_index() {
  by_name_.clear();
  by_id_.clear();
  table_sizes_.clear();
}

void NameScope::index(size_t place) const {
  for (const std::string& key : keys_of(columns_[place])) by_name_[key].push_back(place);
}

std::vector<std::string> NameScope::keys_of(const ScopeColumn& column) {
  std::vector<std::string> keys;
  // A chain of JOIN USING has the same name in every table. Without a table it can only mean columns that need none, except for the leaf of
  // a struct, whose first part looks like a table.
  if (!column.needs_table || column.name.find('.') != std::string::npos) keys.push_back(fold_name(column.name));
  if (!column.table.empty()) keys.push_back(qualified_key(column.table, column.name));
  return keys;
}

void NameScope::index_tables() const {
  if (!table_sizes_.empty()) return;
  for (const ScopeColumn& column : columns_) ++table_sizes_[column.table];
}

void NameScope::add_columns(std::vector<ScopeColumn> columns) {
  for (ScopeColumn& column : columns) {
    if (!table_sizes_.empty()) ++table_sizes_[column.table];
    columns_.push_back(std::move(column));
    if (!by_name_.empty()) index(columns_.size() - 1);
  }
  by_id_.clear();
}

bool NameScope::replace_merged(const std::vector<ScopeColumn>& merged) {
  auto replaces = [](const ScopeColumn& made, const ScopeColumn& own) {
    return own.table.empty() && !own.needs_table && own.name == made.name;
  };
  bool are_first = merged.size() <= columns_.size() && std::equal(merged.begin(), merged.end(), columns_.begin(), replaces);
  if (!are_first) return false;
  for (size_t i = 0; i < merged.size(); ++i) columns_[i].id = merged[i].id;
  by_id_.clear();
  return true;
}

void NameScope::drop_columns_after(size_t count) {
  while (columns_.size() > count) {
    const ScopeColumn& last = columns_.back();
    if (!by_name_.empty()) {
      for (const std::string& key : keys_of(last)) by_name_[key].pop_back();
    }
    if (!table_sizes_.empty()) --table_sizes_[last.table];
    columns_.pop_back();
  }
  by_id_.clear();
}

std::vector<ScopeColumn> NameScope::take_columns() {
  forget_index();
  return std::exchange(columns_, {});
}

bool NameScope::has_table(const std::string& name) const {
  index_tables();
  auto found = table_sizes_.find(name);
  return found != table_sizes_.end() && found->second > 0;
}

const ScopeColumn* NameScope::find_id(ColumnId id) const {
  if (by_id_.empty()) {
    for (size_t i = 0; i < columns_.size(); ++i) by_id_.emplace(columns_[i].id.value, i);
  }
  auto found = by_id_.find(id.value);
  return found == by_id_.end() ? nullptr : &columns_[found->second];
}

std::vector<size_t> NameScope::candidates(const std::vector<std::string>& parts) const {
  if (by_name_.empty()) {
    for (size_t i = 0; i < columns_.size(); ++i) index(i);
  }
  std::vector<size_t> found;
  auto add = [&](const std::string& key) {
    auto known = by_name_.find(key);
    if (known != by_name_.end()) found.insert(found.end(), known->second.begin(), known->second.end());
  };
  add(fold_name(written(parts)));
  if (parts.size() > 1) add(qualified_key(parts[0], end_of(parts)));
  std::sort(found.begin(), found.end());
  return found;
}

template <typename Matches>
const ScopeColumn* NameScope::find_only(const std::vector<std::string>& parts, int64_t position, const Matches& matches) const {
  const ScopeColumn* found = nullptr;
  for (size_t i : candidates(parts)) {
    const ScopeColumn& column = columns_[i];
    if (!matches(column, parts)) continue;
    // For unreadable columns, such as two of the same name in a file, any of them has the reason.
    bool is_same = found != nullptr && (found->id == column.id || (!found->unsupported.empty() && !column.unsupported.empty()));
    if (found != nullptr && !is_same && found->name != column.name)
      throw UserError(fmt::format("column {} is ambiguous: it may be \"{}\" or \"{}\"; write it in quotes", written(parts), found->name,
                                  column.name),
                      position);
    if (found != nullptr && !is_same)
      throw UserError(fmt::format("column {} is ambiguous: it is in {} and {}; write the table's name before it", written(parts),
                                  place_of(*found), place_of(column)),
                      position);
    found = &column;
  }
  return found;
}

const ScopeColumn* NameScope::find_exact(const std::vector<std::string>& parts, int64_t position) const {
  return find_only(parts, position, matches_exactly);
}

const ScopeColumn* NameScope::find_without_case(const std::vector<std::string>& parts, int64_t position) const {
  if (!std::all_of(parts.begin(), parts.end(), may_be_unquoted)) return nullptr;
  return find_only(parts, position, matches_folded);
}

const ScopeColumn* NameScope::find_here(const std::vector<std::string>& parts, int64_t position) const {
  const ScopeColumn* found = find_exact(parts, position);
  return found != nullptr ? found : find_without_case(parts, position);
}

void NameScope::refuse_nested(const std::vector<std::string>& parts, int64_t position) const {
  std::string unsupported;
  std::vector<std::string_view> leaves;
  for (const ScopeColumn& column : columns_) {
    bool is_leaf = column.name.starts_with(written(parts) + ".");
    if (parts.size() > 1 && column.table == parts[0])
      is_leaf = is_leaf || column.name.starts_with(written({parts.begin() + 1, parts.end()}) + ".");
    if (!is_leaf) continue;
    if (column.unsupported.empty()) leaves.push_back(column.name);
    unsupported = column.unsupported;
  }
  if (!leaves.empty())
    throw UserError(fmt::format("column {} is nested; its parts can be read: {}", written(parts), fmt::join(leaves, ", ")), position);
  if (!unsupported.empty()) throw UserError(fmt::format("column {} cannot be read: {}", written(parts), unsupported), position);
}

const ScopeColumn& NameScope::find(const std::vector<std::string>& parts, int64_t position) const {
  const ScopeColumn* found = nullptr;
  // An exact match in an enclosing query takes precedence over a case-insensitive match in this one, since PostgreSQL only has exact ones.
  for (const NameScope* scope = this; scope != nullptr && found == nullptr; scope = scope->parent_) found = scope->find_exact(parts, position);
  for (const NameScope* scope = this; scope != nullptr && found == nullptr; scope = scope->parent_)
    found = scope->find_without_case(parts, position);
  if (found != nullptr && !found->unsupported.empty())
    throw UserError(fmt::format("column {} cannot be read: {}", written(parts), found->unsupported), position);
  if (found != nullptr) return *found;
  for (const NameScope* scope = this; scope != nullptr; scope = scope->parent_) scope->refuse_nested(parts, position);
  std::string text = fmt::format("there is no column {}", written(parts));
  const ScopeColumn* nearest = nullptr;
  size_t least = 4;
  for (const NameScope* scope = this; scope != nullptr; scope = scope->parent_) {
    for (const ScopeColumn& column : scope->columns_) {
      size_t distance = edit_distance(column.name, parts.back());
      if (distance >= least || distance * 2 > parts.back().size() + 1) continue;
      least = distance;
      nearest = &column;
    }
  }
  if (nearest != nullptr) text += fmt::format("; did you mean {}?", nearest->name);
  if (nearest == nullptr && columns_.empty()) text += "; there is no FROM";
  throw UserError(text, position);
}

std::optional<std::string> NameScope::find_table(const std::string& name, int64_t position) const {
  std::optional<std::string> found;
  for (const ScopeColumn& column : columns_) {
    if (column.table == name) return name;
    if (!may_be_unquoted(name) || !matches_without_case(name, column.table)) continue;
    if (found && *found != column.table)
      throw UserError(fmt::format("table {} is ambiguous: it may be \"{}\" or \"{}\"; write it in quotes", name, *found, column.table), position);
    found = column.table;
  }
  return found;
}

}  // namespace pistachio
