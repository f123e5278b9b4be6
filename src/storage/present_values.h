// Which rows of a batch of pages have a value: definition levels to validity and counts.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

#include "storage/page_batch.h"

namespace pistachio {

struct PresentValues {
  std::vector<int64_t> counts;  // values of each page
  at::Tensor validity;          // of all their rows; undefined when there are no NULLs
};

// Decodes the levels where `bytes` are. Throws DataError.
PresentValues find_present_values(const ParquetColumn& column, const at::Tensor& bytes, std::span<const PreparedPage> pages,
                                  const DataLocation& where);

}  // namespace pistachio
