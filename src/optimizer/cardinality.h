// Estimates of how many rows a plan gives, from footers (rows, least and greatest values) and rules of thumb where they say nothing.
// Not thread-safe.
#pragma once

#include <unordered_map>

#include "logical/logical_node.h"

namespace pistachio {

class CardinalityEstimator {
 public:
  explicit CardinalityEstimator(const LogicalPlan& plan) : plan_(plan) {}

  double rows(const LogicalNode& node) const;
  // The share of rows (of a cross product) for which a condition is true.
  double selectivity(const Expression& condition, const std::vector<const LogicalNode*>& inputs) const;
  // How many different values a column has in the rows of a node.
  double distinct_values(ColumnId column, const LogicalNode& node) const;

 private:
  // Open while a question from outside is answered. Estimates of nodes are kept that long, since one asks for another many times, and no
  // longer: the optimizer changes nodes between questions.
  class Question {
   public:
    explicit Question(const CardinalityEstimator& estimator) : estimator_(estimator) { ++estimator_.open_questions_; }
    ~Question() {
      if (--estimator_.open_questions_ == 0) estimator_.known_rows_.clear();
    }
    Question(const Question&) = delete;
    Question& operator=(const Question&) = delete;

   private:
    const CardinalityEstimator& estimator_;
  };

  double estimate_rows(const LogicalNode& node) const;
  double scan_rows(const LogicalScan& scan) const;
  double join_rows(const LogicalNode& node, const LogicalJoin& join) const;

  const LogicalPlan& plan_;
  mutable int open_questions_ = 0;
  mutable std::unordered_map<const LogicalNode*, double> known_rows_;
};

}  // namespace pistachio
