// The environment of storage, passed in by its owner (the engine or a test): settings, caches, pools and the memory account.
#pragma once

#include <functional>

#include "base/task.h"
#include "config/settings.h"
#include "memory/memory_account.h"
#include "storage/lane_streams.h"
#include "storage/mapped_files.h"
#include "storage/metadata_cache.h"
#include "storage/object_store.h"
#include "storage/read_pool.h"

namespace pistachio {

// How a scan gets memory on a GPU when there is little.
struct DeviceRelief {
  std::function<bool(int64_t bytes)> has_room;  // whether `bytes` and the temporaries of kernels certainly fit
  std::function<Task<void>()> relieve;          // makes operators spill retained rows
};

struct StorageContext {
  Settings settings;
  ObjectStores& object_stores;
  MetadataCache& metadata_cache;
  ReadPool& read_pool;  // one per query
  MemoryAccount memory;
  std::shared_ptr<LaneStreams> lane_streams = std::make_shared<LaneStreams>();
  std::shared_ptr<MappedFiles> mapped_files = nullptr;  // null: scans for a device read all their bytes
  DeviceRelief device_relief = {};                      // empty: there is always enough
};

}  // namespace pistachio
