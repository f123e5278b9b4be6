// The pages of one column of a scan unit, prepared for decoding, and their decoding together with the pages of other units: one kernel call
// for each encoding, however many row groups there are. Runs on the device that has the bytes; a GPU starves on single row groups.
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
  at::Tensor wanted;  // bool, of the rows of the pages: those that are asked for; undefined: all

  // Tensors of both batches on another device; the host's stay, as headers of values are looked at there.
  void copy_to(at::Device device);
};

// Whether decoding them together is of use: there are encodings that need a kernel call for each page.
bool is_decoded_together(const ColumnChunkInfo& chunk);

// One column, of one file schema, of several units in their order: the wanted rows of all. Throws DataError.
Column decode_together(const std::vector<const ColumnPages*>& units);

}  // namespace pistachio
