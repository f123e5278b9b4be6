// The tables of the join benchmarks: build(k, b1..) with every key once, probe(k, p1..) of which a share finds a partner. All columns have
// 8 bytes that do not compress, as in the published evaluation. The same rows for the same numbers, so they are made once and kept.
#pragma once

#include <cstdint>
#include <string>

namespace pistachio {

struct JoinTables {
  int64_t build_rows = 0;
  int64_t probe_rows = 0;
  int64_t columns = 1;  // beside the key, on each side
  double hit = 0.5;     // share of the probe rows that find a partner
  double skew = 0;      // share of the probe rows that have one and the same key; they count as hits
};

struct JoinTablePaths {
  std::string build;
  std::string probe;
};

// More rows would need wider numbers for their keys.
constexpr int64_t kMostJoinRows = 2'000'000'000;

// Makes them below the folder unless they are there. Throws UserError.
JoinTablePaths ensure_join_tables(const std::string& folder, const JoinTables& tables);

// The join of all columns: `SELECT count(*), sum(b1), sum(p1).. FROM probe JOIN build ON ..`.
std::string join_query(const JoinTablePaths& paths, int64_t columns);

}  // namespace pistachio
