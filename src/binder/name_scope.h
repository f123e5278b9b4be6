// The columns that names can mean at one place of a query, with the scope of the query around it.
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
  // After JOIN USING the columns of both sides stay reachable by their table's name only; the merged one stands for them.
  bool needs_table = false;
  std::string unsupported;  // not empty: why it cannot be read
};

class NameScope {
 public:
  explicit NameScope(const NameScope* parent = nullptr) : parent_(parent) {}

  void set_columns(std::vector<ScopeColumn> columns);
  // A chain of joins sees one table more at each step: searches after this do not begin anew.
  void add_columns(std::vector<ScopeColumn> columns);
  // Keeps the first ones only.
  void drop_columns_after(size_t count);
  std::vector<ScopeColumn> take_columns();
  const std::vector<ScopeColumn>& columns() const { return columns_; }
  const NameScope* parent() const { return parent_; }

  // `name` or `table.name`, here or in a scope around. A name without an exact match means the only one that differs in case alone.
  // Throws UserError: unknown (with near names), ambiguous, not readable.
  const ScopeColumn& find(const std::vector<std::string>& parts, int64_t position) const;
  const ScopeColumn* find_exact(const std::vector<std::string>& parts, int64_t position) const;
  // Whether the name means something in this scope itself.
  const ScopeColumn* find_here(const std::vector<std::string>& parts, int64_t position) const;
  // The first column of this id in this scope itself; null: none.
  const ScopeColumn* find_id(ColumnId id) const;
  // Whether columns of this very table name are in this scope itself.
  bool has_table(const std::string& name) const;
  // The table's name as it is written in this scope; nothing when no table matches.
  std::optional<std::string> find_table(const std::string& name, int64_t position) const;

 private:
  const ScopeColumn* find_without_case(const std::vector<std::string>& parts, int64_t position) const;
  template <typename Matches>
  const ScopeColumn* find_only(const std::vector<std::string>& parts, int64_t position, const Matches& matches) const;
  void index(size_t place) const;
  void index_tables() const;
  void forget_index();
  // Columns whose folded name is that of the whole name or of its end, in their order.
  std::vector<size_t> candidates(const std::vector<std::string>& parts) const;
  // The struct, list or map whose parts are columns: its own name means nothing here.
  void refuse_nested(const std::vector<std::string>& parts, int64_t position) const;

  std::vector<ScopeColumn> columns_;
  // From folded names to places in columns_, also from those of table and column together. Filled by the first search: most scopes of wide
  // tables are looked into often or never.
  mutable std::unordered_map<std::string, std::vector<size_t>> by_name_;
  mutable std::unordered_map<int32_t, size_t> by_id_;           // the same
  mutable std::unordered_map<std::string, size_t> table_sizes_;  // columns of each table; filled in the same way
  const NameScope* parent_;
};

}  // namespace pistachio
