// A physical plan as bytes, for the ranks that run it. All ranks run the same build, so functions go by their place in the tables of expr.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "physical/physical_node.h"

namespace pistachio {

std::string serialize_plan(const PhysicalPlan& plan);

// Opens a table of files: its name and the patterns it was made from.
using TableOpener = std::function<TablePtr(const std::string& name, const std::vector<std::string>& patterns)>;

// Tables in memory come without rows: they are on the rank that made the plan. Throws PeerError for bytes that are no plan, UserError if
// this rank does not find the same files.
PhysicalPlan deserialize_plan(std::string_view bytes, const TableOpener& open);

}  // namespace pistachio
