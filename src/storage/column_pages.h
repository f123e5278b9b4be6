// Batched page decoding: the pages of one column from many row groups are decoded with one kernel call per encoding, on the device that holds
// their bytes.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "data/column.h"
#include "storage/page_batch.h"

namespace pistachio {

struct ColumnPages {
  const ParquetColumn* column = nullptr;
  DataLocation where;
  PageBatch dictionary;  // without pages: there is none
  PageBatch data;
  at::Tensor wanted;  // uint8, of the rows of the pages: those that are asked for; undefined: all
};

// False for encodings that need a kernel call per page and gain nothing from batching.
bool is_decoded_together(const ColumnChunkInfo& chunk);

// Decodes one column of several units that store it alike, after upload_pages() moved them together; returns the wanted rows in order. The
// column keeps nothing of the pages alive. Throws DataError.
Column decode_together(const std::vector<const ColumnPages*>& units);

}  // namespace pistachio
