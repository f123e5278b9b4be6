// From an optimized logical plan to operators: the algorithm of each node is chosen here.
#pragma once

#include <memory>
#include <vector>

#include "exec/operator.h"
#include "logical/logical_node.h"

namespace pistachio {

// Operators of a plan, with the node each was made from, for EXPLAIN ANALYZE. The plan outlives it.
struct ExecutablePlan {
  OperatorPtr root;
  struct Step {
    const LogicalNode* node;
    Operator* op;
  };
  std::vector<Step> steps;
};

ExecutablePlan build_executable(const LogicalPlan& plan);

}  // namespace pistachio
