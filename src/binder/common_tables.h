// WITH: common table expressions, including recursive ones. Later ones see earlier ones; a query sees those of the queries around it.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "binder/query_binder.h"

namespace pistachio {

class QueryBinder::CommonTables {
 public:
  explicit CommonTables(QueryBinder& binder) : binder_(binder) {}

  // How many are visible.
  size_t visible() const { return entries_.size(); }
  void hide_after(size_t visible) { entries_.resize(visible); }
  // Adds those of the query to the visible ones.
  void bind(const ast::Query& query, const NameScope* outer);
  // The visible one of this name, read under the alias.
  std::optional<BoundFrom> use(const std::string& name, const std::string& alias);

  void add_names(std::vector<std::string>& names) const {
    for (const Entry& entry : entries_) names.push_back(entry.definition->name);
  }

  // Calls bind() with none of them visible.
  template <typename Bind>
  BoundQuery without_tables(const Bind& bind) {
    std::vector<Entry> around = std::exchange(entries_, {});
    BoundQuery bound = bind();
    entries_ = std::move(around);
    return bound;
  }

 private:
  struct Entry {
    const ast::CommonTable* definition = nullptr;
    size_t shared = 0;
    // Inside a recursive CTE, the table itself: `shared` is the number of its working table.
    bool is_working_table = false;
    std::vector<OutputColumn> output;
    std::vector<OmittedColumn> left_out;
    // A CTE that refers to an outer query is bound again at each use.
    bool correlated = false;
    const NameScope* scope = nullptr;
    size_t visible = 0;  // number of entries visible inside it
  };

  // Only for a CTE that reads itself.
  BoundQuery bind_recursive(const ast::CommonTable& table, const NameScope* outer);
  BoundFrom bind_again(const Entry& entry, const std::string& alias);
  BoundFrom read(const Entry& entry, const std::string& alias);

  QueryBinder& binder_;
  std::vector<Entry> entries_;
  std::set<size_t> read_working_tables_;
};

}  // namespace pistachio
