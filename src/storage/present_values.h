// Decodes the definition levels of a batch of pages to validity and value counts.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

#include "storage/page_batch.h"

namespace pistachio {

struct PresentValues {
  std::vector<int64_t> counts;  // non-NULL values per page
  at::Tensor validity;          // of all rows; undefined if there are no NULLs
};

// Decodes the levels on the device of `bytes`. Throws DataError.
PresentValues find_present_values(const ParquetColumn& column, const at::Tensor& bytes, std::span<const PreparedPage> pages,
                                  const DataLocation& where);

}  // namespace pistachio
