// Plans as text and JSON, with estimates and, after a run, what really happened.
#pragma once

#include <string>
#include <vector>

#include "exec/plan_builder.h"
#include "physical/physical_node.h"

namespace pistachio {

struct ExplainOptions {
  const ExecutablePlan* executed = nullptr;  // with figures of a run
  double seconds = 0;                        // of the run
  int64_t bytes_read = 0;
};

std::vector<std::string> explain_text(const PhysicalPlan& plan, const ExplainOptions& options);
std::string explain_json(const PhysicalPlan& plan, const ExplainOptions& options);

}  // namespace pistachio
