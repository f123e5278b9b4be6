// What merging partial results in transit costs, fitted to whole queries on 16 cores (src/exec/operators/combine_tables_bench.cpp measures
// the tables alone): 72 ns of a thread for a row of 8 bytes, 220 ns for one of 45. The planner decides with these figures whether merging
// may pay; while a query runs, exec/adaptive/on_path_choice.h starts from them and replaces what it can measure.
#pragma once

namespace pistachio {

// Seconds of a thread to route, pack, unpack and route again a row that goes through a merging rank of its host.
inline double hand_over_seconds(double row_bytes) {
  return 20e-9 + 2e-9 * row_bytes;
}
// Seconds of a thread to merge a row.
inline double merge_seconds(double row_bytes) {
  return 20e-9 + 2e-9 * row_bytes;
}

}  // namespace pistachio
