// What merging partial results in transit costs, measured for narrow rows (src/exec/operators/combine_tables_bench.cpp and whole queries
// on 16 cores). The planner decides with these constants whether merging may pay; while a query runs, exec/adaptive/on_path_choice.h
// starts from them and replaces what it can measure.
#pragma once

namespace pistachio {

// Seconds of a thread to route, pack, unpack and route again a row that goes through a merging rank of its host.
inline constexpr double kHandOverSeconds = 40e-9;
// Seconds of a thread to merge a row.
inline constexpr double kMergeSeconds = 40e-9;

}  // namespace pistachio
