// Turns the encoded values of a batch of pages into dense values (NULLs left out) of the column's physical type, by one kernel call
// per encoding, and those into the column's logical type. Kernels run on the device that holds the bytes; headers are parsed
// from the host copy.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

#include "data/column.h"
#include "storage/page_batch.h"

namespace pistachio {

// Part of a batch: pages of one encoding, each with the number of values that are there.
struct EncodedValues {
  const at::Tensor* bytes;
  std::span<const PreparedPage> pages;
  std::span<const int64_t> counts;
};

// Any encoding but the dictionary's. `counts` were checked against the rows. Throws DataError.
Column decode_values(const ParquetColumn& column, PageEncoding encoding, const EncodedValues& values, const DataLocation& where);

// Throws DataError if the runs of a page of dictionary codes hold more values than `count`. Reads the page's bytes on the host.
void check_code_runs(const PreparedPage& page, int64_t count, const DataLocation& where);

// Dictionary codes (int32), each checked to be below the size of its page's dictionary. `dictionary_sizes` has one for each page.
at::Tensor decode_codes(const EncodedValues& values, std::span<const int64_t> dictionary_sizes, const DataLocation& where);

}  // namespace pistachio
