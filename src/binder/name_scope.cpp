#include "binder/name_scope.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/edit_distance.h"
#include "base/error.h"

namespace pistachio {

namespace {

std::string written(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, "."));
}

// Struct leaves are columns whose names have dots: a.b may be table.column or the leaf a.b of some table.
bool matches(const ScopeColumn& column, const std::vector<std::string>& parts) {
  if (column.name == written(parts)) return parts.size() > 1 || !column.needs_table;
  if (parts.size() < 2 || column.table != parts[0]) return false;
  return column.name == written({parts.begin() + 1, parts.end()});
}

}  // namespace

const ScopeColumn* NameScope::find_here(const std::vector<std::string>& parts, int64_t position) const {
  const ScopeColumn* found = nullptr;
  for (const ScopeColumn& column : columns_) {
    if (!matches(column, parts)) continue;
    // Of columns that cannot be read, such as two of one name in a file, any one says why.
    bool is_same = found != nullptr && (found->id == column.id || (!found->unsupported.empty() && !column.unsupported.empty()));
    if (found != nullptr && !is_same) {
      throw UserError(fmt::format("column {} is ambiguous: it is in {} and {}; write the table's name before it", written(parts),
                                  found->table.empty() ? "a join" : found->table, column.table.empty() ? "a join" : column.table),
                      position);
    }
    found = &column;
  }
  return found;
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
  for (const NameScope* scope = this; scope != nullptr; scope = scope->parent_) {
    const ScopeColumn* found = scope->find_here(parts, position);
    if (found == nullptr) continue;
    if (!found->unsupported.empty())
      throw UserError(fmt::format("column {} cannot be read: {}", written(parts), found->unsupported), position);
    return *found;
  }
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

bool NameScope::has_table(const std::string& table) const {
  return std::any_of(columns_.begin(), columns_.end(), [&](const ScopeColumn& column) { return column.table == table; });
}

}  // namespace pistachio
