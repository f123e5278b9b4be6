// The tables of the join benchmarks: build(k, b1..) with unique keys, probe(k, p1..) with a given share of matching rows. All columns have
// incompressible 8-byte values, as in the published evaluation. Deterministic, so they are generated once and cached.
#pragma once

#include <cstdint>
#include <string>

namespace pistachio {

struct JoinTables {
  int64_t build_rows = 0;
  int64_t probe_rows = 0;
  int64_t columns = 1;  // payload columns per side, in addition to the key
  double hit = 0.5;     // share of the probe rows that have a match
  double skew = 0;      // share of the probe rows that have the same key; they count as hits
};

struct JoinTablePaths {
  std::string build;
  std::string probe;
};

// More rows would need wider arithmetic for their keys.
constexpr int64_t kMaxJoinRows = 2'000'000'000;

// Generates the tables in the folder unless they exist. Throws UserError.
JoinTablePaths ensure_join_tables(const std::string& folder, const JoinTables& tables);

// The join of all columns: `SELECT count(*), sum(b1), sum(p1).. FROM probe JOIN build ON ..`.
std::string join_query(const JoinTablePaths& paths, int64_t columns);

}  // namespace pistachio
