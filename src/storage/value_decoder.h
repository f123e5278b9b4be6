// Decodes a batch of pages to dense values (NULLs left out) of the column's physical type, with one kernel call per encoding, then converts
// them to the logical type. Kernels run on the device that holds the bytes.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

#include "data/column.h"
#include "storage/page_batch.h"

namespace pistachio {

// Part of a batch: pages of one encoding, each with its number of non-NULL values.
struct EncodedValues {
  const at::Tensor* bytes;
  std::span<const PreparedPage> pages;
  std::span<const int64_t> counts;
};

// Any encoding but dictionary codes. `counts` have been checked against the rows. Throws DataError.
Column decode_values(const ParquetColumn& column, PageEncoding encoding, const EncodedValues& values, const DataLocation& where);

// The dictionary of a page among the entries of several dictionaries, laid end to end.
struct DictionaryRange {
  int64_t begin;
  int64_t size;
};

// Dictionary codes (int32), checked to be inside the page's dictionary; `dictionaries` has one range per page.
at::Tensor decode_codes(const EncodedValues& values, std::span<const DictionaryRange> dictionaries, const DataLocation& where);

}  // namespace pistachio
