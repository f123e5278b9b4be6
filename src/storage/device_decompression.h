// Decompresses uploaded pages on their device: all columns and units of a chunk with one kernel call.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

#include "storage/column_pages.h"

namespace pistachio {

class DeviceDecompression {
 public:
  // Enqueues the decompression of those `pages` that upload_pages() left compressed on the current stream, without waiting. Afterwards the
  // batches refer to decompressed bytes. `pages` must live until check().
  explicit DeviceDecompression(std::span<ColumnPages* const> pages);

  // Waits for the device. Throws DataError if a page was damaged. Pages may be decoded before, but the result must not be used.
  void check() const;

 private:
  struct Source {
    const ColumnPages* unit;
    const PreparedPage* page;
    int64_t size;
  };

  std::vector<Source> sources_;
  at::Tensor bytes_;
  at::Tensor first_damaged_;
};

}  // namespace pistachio
