// Plans as text and JSON, with estimates and, after a run, actual figures.
#pragma once

#include <string>
#include <vector>

#include "physical/physical_node.h"
#include "profile/query_profile.h"

namespace pistachio {

// The name of each step, by its number.
std::vector<std::string> step_names(const PhysicalPlan& plan);
// With a profile: includes the actual figures of each rank.
std::vector<std::string> explain_text(const PhysicalPlan& plan, const QueryProfile* profile);
std::string explain_json(const PhysicalPlan& plan, const QueryProfile* profile);

}  // namespace pistachio
