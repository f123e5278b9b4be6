// Where a query runs with device=auto: a GPU processes many times as many bytes per second as the host, but takes longer to start.
#pragma once

#include <cstdint>

#include "physical/physical_node.h"

namespace pistachio {

// Decoded bytes of the columns that the scans of the plan read, whole tables.
double scanned_bytes(const PhysicalPlan& plan);

// Whether a GPU finishes a query that scans so many bytes earlier than `threads` threads of the host.
bool is_faster_on_gpu(double bytes, int64_t threads);

}  // namespace pistachio
