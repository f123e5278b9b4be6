// Filters common tables by what all of their readers require. If every read of a common table compares some column with constants, rows
// that no reader wants need not be computed: WITH sales AS (... GROUP BY year, quarter) read for quarters 1 and 2 of 2000 is filtered by
// year = 2000 and by (quarter = 1 OR quarter = 2), which then move on to its scans. The readers keep their conditions.
#include <algorithm>
#include <map>
#include <set>

#include "expr/column_set.h"
#include "expr/stability.h"
#include "optimizer/rules.h"

namespace pistachio {

namespace {

// Of one read: its conditions on a single column, by the shared plan's column.
using ConditionsByColumn = std::map<ColumnId, std::vector<ExpressionPtr>>;

class CommonTableFilters {
 public:
  explicit CommonTableFilters(LogicalPlan& plan) : plan_(plan) {}

  void run(const CancelToken& token) {
    std::set<size_t> waiting;
    for (size_t i = 0; i < plan_.shared.size(); ++i) {
      if (plan_.shared[i]) waiting.insert(i);
    }
    if (waiting.empty()) return;
    push_down_filters(plan_, token);  // also implied conditions, so that all of them are next to the reads
    // Readers first: what is filtered there may reach the reads of other common tables.
    while (!waiting.empty()) {
      const size_t next = without_waiting_readers(waiting);
      waiting.erase(next);
      std::vector<ExpressionPtr> wanted = wanted_by_all(next);
      if (wanted.empty()) continue;
      plan_.shared[next] = make_node(LogicalFilter{.conditions = std::move(wanted)}, std::move(plan_.shared[next]));
      push_down_filters(plan_, token);
      fold_constants(plan_, token);
    }
  }

 private:
  size_t without_waiting_readers(const std::set<size_t>& waiting) const {
    std::set<size_t> read;
    for (size_t i : waiting) collect_reads(*plan_.shared[i], read);
    for (size_t i : waiting) {
      if (!read.contains(i)) return i;
    }
    return *waiting.begin();
  }

  static void collect_reads(const LogicalNode& node, std::set<size_t>& read) {
    const auto* shared = node.as<LogicalSharedRead>();
    if (shared != nullptr && !shared->is_working_table) read.insert(shared->shared);
    for (const LogicalPtr& child : node.children) collect_reads(*child, read);
  }

  std::vector<ExpressionPtr> wanted_by_all(size_t shared) const {
    std::vector<ConditionsByColumn> readers;
    for (const LogicalPtr& other : plan_.shared) {
      if (other) collect_readers(*other, shared, nullptr, readers);
    }
    collect_readers(*plan_.root, shared, nullptr, readers);
    std::vector<ExpressionPtr> wanted;
    if (readers.empty()) return wanted;
    for (const auto& [column, conditions] : readers[0]) {
      if (ExpressionPtr made = wanted_of(column, readers)) wanted.push_back(std::move(made));
    }
    return wanted;
  }

  void collect_readers(const LogicalNode& node, size_t shared, const LogicalFilter* filter,
                       std::vector<ConditionsByColumn>& readers) const {
    const auto* read = node.as<LogicalSharedRead>();
    if (read != nullptr && !read->is_working_table && read->shared == shared) readers.push_back(conditions_of(*read, filter));
    for (const LogicalPtr& child : node.children) collect_readers(*child, shared, node.as<LogicalFilter>(), readers);
  }

  ConditionsByColumn conditions_of(const LogicalSharedRead& read, const LogicalFilter* filter) const {
    ConditionsByColumn made;
    if (filter == nullptr) return made;
    for (const ExpressionPtr& condition : filter->conditions) {
      const ColumnSet used = columns_of(*condition);
      // A condition that can raise an error may be guarded by others; an unstable one must be evaluated once.
      if (used.size() != 1 || condition->can_raise() || !is_stable(*condition)) continue;
      const auto place = std::find(read.columns.begin(), read.columns.end(), *used.begin());
      if (place == read.columns.end()) continue;
      const ColumnId source = read.sources[static_cast<size_t>(place - read.columns.begin())];
      made[source].push_back(replace_columns(condition, [&](ColumnId) { return plan_.columns.reference(source); }));
    }
    return made;
  }

  // What one of the readers requires of the column. Null: one of them requires nothing.
  static ExpressionPtr wanted_of(ColumnId column, const std::vector<ConditionsByColumn>& readers) {
    std::vector<ExpressionPtr> choices;
    for (const ConditionsByColumn& reader : readers) {
      const auto found = reader.find(column);
      if (found == reader.end()) return nullptr;
      ExpressionPtr all = Expression::logical(ExpressionKind::And, found->second);
      const bool is_known =
          std::any_of(choices.begin(), choices.end(), [&](const ExpressionPtr& one) { return same_expression(*one, *all); });
      if (!is_known) choices.push_back(std::move(all));
    }
    return Expression::logical(ExpressionKind::Or, std::move(choices));
  }

  LogicalPlan& plan_;
};

}  // namespace

void filter_common_tables(LogicalPlan& plan, const CancelToken& token) {
  CommonTableFilters(plan).run(token);
}

}  // namespace pistachio
