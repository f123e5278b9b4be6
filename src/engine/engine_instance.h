// The engine as one object: scheduler, memory governor, allocator and caches, created from settings. Nothing is global except c10's CPU allocator, of
// which a process has only one. Thread-safe; must outlive everything that runs on it.
#pragma once

#include <c10/core/Device.h>

#include <atomic>
#include <memory>
#include <string>

#include "base/core_set.h"
#include "base/scheduler.h"
#include "config/settings.h"
#include "memory/memory_governor.h"
#include "storage/metadata_cache.h"
#include "storage/object_store.h"
#include "storage/read_pool.h"
#include "storage/storage_context.h"

namespace pistachio {

class PooledAllocator;

class EngineInstance {
 public:
  // Completes the settings that depend on the machine. Workers stay on the cores if there are any and bind_threads allows it. Throws
  // UserError when the device is not there.
  explicit EngineInstance(Settings settings, const CoreSet& cores = {});
  ~EngineInstance();

  const Settings& settings() const { return settings_; }
  Scheduler& scheduler() { return *scheduler_; }
  MemoryGovernor& governor() { return governor_; }
  MetadataCache& metadata_cache() { return metadata_cache_; }

  // Where operators run.
  at::Device device() const { return device_; }

  // The most memory that tensors took so far.
  int64_t peak_memory() const;

  // What one query uses of the engine. `settings` may differ from the engine's in what a query may choose.
  class QueryScope {
   public:
    enum class Use { ScanOnly, Operators };
    QueryScope(EngineInstance& engine, Settings settings, Use use);
    StorageContext& storage() { return storage_; }
    const ReadPool& read_pool() const { return read_pool_; }
    // For what operators keep. Beside operators, scans have at most half of the limit: read-ahead must not take what they need.
    const MemoryAccount& operator_memory() const { return operator_memory_; }

   private:
    ReadPool read_pool_;
    MemoryAccount operator_memory_;
    StorageContext storage_;
  };

 private:
  friend class QueryScope;

  Settings settings_;
  at::Device device_;
  PooledAllocator* allocator_;  // lives as long as the process
  MemoryGovernor governor_;
  ObjectStores object_stores_;
  MetadataCache metadata_cache_;
  PressureRegistration metadata_pressure_;
  PressureRegistration allocator_pressure_;
  std::unique_ptr<Scheduler> scheduler_;
  std::atomic<int64_t> queries_ = 0;
};

}  // namespace pistachio
