// Copies whole files to a device and discards them, in the ways that scans do but without decoding: the lower bound of every scan on that
// device. Several lanes copy pieces of the files, each on its own stream.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "base/task.h"
#include "storage/data_file.h"
#include "storage/storage_context.h"

namespace pistachio {

enum class CopyWay {
  Staged,      // read into pinned memory, copied from there
  Registered,  // copied from the page cache, which is registered with the device
};

// Returns the bytes copied, when the device has them. Registered: blocks that are not registered yet are registered, but not always copied,
// so the first call copies fewer bytes than the files have; so does the second if the files cannot be registered, or not at the same time.
// Throws DataError, Cancelled.
Task<int64_t> copy_files(StorageContext& storage, std::vector<std::shared_ptr<DataFile>> files, at::Device device, CopyWay way, int lanes);

// Bytes per second from pinned memory to a GPU. Blocks for some tens of milliseconds.
double pinned_copy_rate(at::Device device);

}  // namespace pistachio
