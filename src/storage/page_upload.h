// Uploads the pages of many columns and units to the device that decodes them, into one buffer with a few large copies.
#pragma once

#include <span>

#include "storage/column_pages.h"

namespace pistachio {

// Enqueues the copies on the current stream and does not wait. Afterwards the batches and `wanted` of the pages are parts of one tensor on
// the device.
void upload_pages(std::span<ColumnPages* const> pages, at::Device device);

}  // namespace pistachio
