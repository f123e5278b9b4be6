// The distinct values that a generated column draws from: the extremes of the stored type first, then random ones. Deterministic.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/parquet/parquet_file_factory.h"

namespace pistachio::test {

// Exactly one of the vectors is filled, by the physical type: integers for BOOLEAN, INT32 and INT64, floats for FLOAT and DOUBLE, bytes
// for the rest (INT96: its 12 bytes).
struct ValuePool {
  std::vector<int64_t> integers;
  std::vector<double> floats;
  std::vector<std::string> bytes;

  size_t size() const { return integers.size() + floats.size() + bytes.size(); }
};

ValuePool make_value_pool(const StoredType& stored, int distinct, std::mt19937_64& random);

}  // namespace pistachio::test
