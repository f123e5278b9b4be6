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
  PageBatch dictionary;  // no pages: the chunk has no dictionary
  PageBatch data;
  at::Tensor wanted;  // uint8, one per row of the pages: nonzero for requested rows; undefined: all
};

// False for encodings that need a kernel call per page and gain nothing from batching.
bool is_decoded_together(const ColumnChunkInfo& chunk);

// Decodes one column of several units whose storage of it is identical, after upload_pages() moved them into one buffer; returns the wanted
// rows in order. The column does not keep the pages alive. Throws DataError.
Column decode_together(const std::vector<const ColumnPages*>& units);

}  // namespace pistachio
