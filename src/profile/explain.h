// Plans as text and JSON, with estimates and, after a run, actual figures.
#pragma once

#include <string>
#include <vector>

#include "physical/physical_node.h"
#include "profile/query_profile.h"

namespace pistachio {

// The name of each step, by its number.
std::vector<std::string> step_names(const PhysicalPlan& plan);
struct ExplainOptions {
  const QueryProfile* profile = nullptr;  // null: no actual figures of each rank
  bool runs_on_gpu = false;               // names what each step does on the host all the same
};
std::vector<std::string> explain_text(const PhysicalPlan& plan, const ExplainOptions& options);
std::string explain_json(const PhysicalPlan& plan, const ExplainOptions& options);

}  // namespace pistachio
