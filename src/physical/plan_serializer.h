// Serializes a physical plan for other ranks. All ranks run the same build, so functions are identified by their index in expr's tables.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "physical/physical_node.h"

namespace pistachio {

std::string serialize_plan(const PhysicalPlan& plan);

// Opens a table of files. `listing` has the files to open, as rank 0 found them; with local_files it has only patterns, and each rank finds
// its own files.
using TableOpener = std::function<TablePtr(const std::string& name, TableListing listing)>;

// In-memory tables have no rows here: only the planning rank has them. Throws PeerError for malformed bytes, UserError if this rank does
// not find the same files.
PhysicalPlan deserialize_plan(std::string_view bytes, const TableOpener& open);

}  // namespace pistachio
