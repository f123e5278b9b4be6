// The columns that names can mean at one place of a query, with the scope of the query around it.
#pragma once

#include <string>
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

  void add(ScopeColumn column) { columns_.push_back(std::move(column)); }
  std::vector<ScopeColumn>& columns() { return columns_; }
  const std::vector<ScopeColumn>& columns() const { return columns_; }
  const NameScope* parent() const { return parent_; }

  // `name` or `table.name`, here or in a scope around. Throws UserError: unknown (with near names), ambiguous, not readable.
  const ScopeColumn& find(const std::vector<std::string>& parts, int64_t position) const;
  // Whether the name means something in this scope itself.
  const ScopeColumn* find_here(const std::vector<std::string>& parts, int64_t position) const;
  bool has_table(const std::string& table) const;

 private:
  // The struct, list or map whose parts are columns: its own name means nothing here.
  void refuse_nested(const std::vector<std::string>& parts, int64_t position) const;

  std::vector<ScopeColumn> columns_;
  const NameScope* parent_;
};

}  // namespace pistachio
