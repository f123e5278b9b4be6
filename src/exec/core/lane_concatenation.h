// Concatenates chunks on all lanes: copying gigabytes into new memory on one thread would keep the others waiting.
#pragma once

#include <vector>

#include "exec/core/operator.h"

namespace pistachio {

// All chunks as one, like concatenate_chunks(). Few rows, and rows on a GPU, are concatenated by the calling task.
Task<Chunk> concatenate_on_lanes(RunContext& context, std::vector<Chunk> chunks, std::vector<LogicalType> types, OperatorMetrics& metrics);

}  // namespace pistachio
