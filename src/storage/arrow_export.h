// Chunks as Arrow record batches, for the formats that Arrow writes. Fixed-width values share memory where the layouts agree; text is
// compacted and dictionaries are decoded, because a column may change its encoding from chunk to chunk but a schema may not. Thread-safe;
// allocates at most the size of the batch.
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

// How INTERVAL is written. Parquet's has no sign and no microseconds: a value it cannot represent is an error that names the column.
enum class IntervalForm { MonthDayNano, Parquet };

std::shared_ptr<arrow::Schema> arrow_schema(const std::vector<NamedType>& columns, IntervalForm intervals);

// Several batches if a column's text exceeds 32-bit offsets. Throws UserError for values that the format cannot represent.
std::vector<std::shared_ptr<arrow::RecordBatch>> arrow_batches(const std::shared_ptr<arrow::Schema>& schema, const Chunk& chunk,
                                                               IntervalForm intervals);

}  // namespace pistachio
