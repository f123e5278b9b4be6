// From a physical plan to operators.
#pragma once

#include <memory>
#include <vector>

#include "exec/operator.h"
#include "physical/physical_node.h"

namespace pistachio {

// Operators of a plan, with the node each was made from, for EXPLAIN ANALYZE. The plan outlives it.
struct ExecutablePlan {
  OperatorPtr root;
  struct Step {
    const PhysicalNode* node;
    Operator* op;
  };
  std::vector<Step> steps;
};

ExecutablePlan build_executable(const PhysicalPlan& plan);

}  // namespace pistachio
