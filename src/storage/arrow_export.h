// Chunks as Arrow record batches, for the formats that Arrow writes. Fixed-width values are shared where both sides hold them alike; text
// is put back to back, dictionaries are written out, because the form of a column may change from chunk to chunk and a schema may not. Any
// thread; needs as much memory as the batch.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/chunk.h"

namespace arrow {
class RecordBatch;
class Schema;
}  // namespace arrow

namespace pistachio {

struct NamedType {
  std::string name;
  LogicalType type;
};

// How INTERVAL is written. Parquet has no signs and no microseconds: what it cannot hold is an error that names the column.
enum class IntervalForm { MonthDayNano, Parquet };

std::shared_ptr<arrow::Schema> arrow_schema(const std::vector<NamedType>& columns, IntervalForm intervals);

// Several when the text of a column is too long for one. Throws UserError for values that the format has no room for.
std::vector<std::shared_ptr<arrow::RecordBatch>> arrow_batches(const std::shared_ptr<arrow::Schema>& schema, const Chunk& chunk,
                                                               IntervalForm intervals);

}  // namespace pistachio
