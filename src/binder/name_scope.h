// The columns that names can refer to at some point of a query, linked to the scope of the enclosing query.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "logical/logical_node.h"

namespace pistachio {

struct ScopeColumn {
  std::string table;  // the alias it can be qualified with; empty: none
  std::string name;
  ColumnId id;
  // After JOIN USING the columns of both sides are only reachable with their table's name; an unqualified name means the merged column.
  bool needs_table = false;
  std::string unsupported;  // why it cannot be read; else empty
};

class NameScope {
 public:
  explicit NameScope(const NameScope* parent = nullptr) : parent_(parent) {}

  void set_columns(std::vector<ScopeColumn> columns);
  // Keeps the lookup tables: a chain of joins adds one table at each step.
  void add_columns(std::vector<ScopeColumn> columns);
  // JOIN USING: replaces the merged columns of an earlier join by new ones with the same names. False, without a change, unless they are
  // the first columns.
  bool replace_merged(const std::vector<ScopeColumn>& merged);
  // Keeps only the first `count` columns.
  void drop_columns_after(size_t count);
  std::vector<ScopeColumn> take_columns();
  const std::vector<ScopeColumn>& columns() const { return columns_; }
  const NameScope* parent() const { return parent_; }

  // `name` or `table.name`, here or in an enclosing scope. Falls back to a unique case-insensitive match.
  // Throws UserError: unknown (with similar names), ambiguous, not readable.
  const ScopeColumn& find(const std::vector<std::string>& parts, int64_t position) const;
  const ScopeColumn* find_exact(const std::vector<std::string>& parts, int64_t position) const;
  // The column in this scope, ignoring enclosing ones; null if there is none.
  const ScopeColumn* find_here(const std::vector<std::string>& parts, int64_t position) const;
  // The first column with this id in this scope; null if there is none.
  const ScopeColumn* find_id(ColumnId id) const;
  // Whether this scope has columns of a table with exactly this name.
  bool has_table(const std::string& name) const;
  // The table's name as spelled in this scope; nullopt if no table matches.
  std::optional<std::string> find_table(const std::string& name, int64_t position) const;

 private:
  const ScopeColumn* find_without_case(const std::vector<std::string>& parts, int64_t position) const;
  template <typename Matches>
  const ScopeColumn* find_only(const std::vector<std::string>& parts, int64_t position, const Matches& matches) const;
  void index(size_t place) const;
  // The keys of a column in by_name_.
  static std::vector<std::string> keys_of(const ScopeColumn& column);
  void index_tables() const;
  void forget_index();
  // Columns whose folded name equals the whole name or its last parts, in order.
  std::vector<size_t> candidates(const std::vector<std::string>& parts) const;
  // Throws if the name is that of a struct, list or map, of which only the leaves are columns.
  void refuse_nested(const std::vector<std::string>& parts, int64_t position) const;

  std::vector<ScopeColumn> columns_;
  // Folded names, also qualified by table, to indexes in columns_. Filled by the first lookup, since scopes of wide tables are searched
  // either often or never.
  mutable std::unordered_map<std::string, std::vector<size_t>> by_name_;
  mutable std::unordered_map<int32_t, size_t> by_id_;           // the same
  mutable std::unordered_map<std::string, size_t> table_sizes_;  // columns of each table; filled in the same way
  const NameScope* parent_;
};

}  // namespace pistachio
