// The environment of storage, passed in by its owner (the engine or a test): settings, caches, pools and the memory account.
#pragma once

#include "config/settings.h"
#include "memory/memory_account.h"
#include "storage/lane_streams.h"
#include "storage/mapped_files.h"
#include "storage/metadata_cache.h"
#include "storage/object_store.h"
#include "storage/read_pool.h"

namespace pistachio {

struct StorageContext {
  Settings settings;
  ObjectStores& object_stores;
  MetadataCache& metadata_cache;
  ReadPool& read_pool;  // one per query
  MemoryAccount memory;
  std::shared_ptr<LaneStreams> lane_streams = std::make_shared<LaneStreams>();
  std::shared_ptr<MappedFiles> mapped_files = nullptr;  // null: scans for a device read all their bytes
};

}  // namespace pistachio
