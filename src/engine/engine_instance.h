// The engine as one object: scheduler, memory governor, allocator and caches, created from settings. Nothing is global except c10's CPU
// allocator, of which a process has only one. Thread-safe; must outlive everything that runs on it.
#pragma once

#include <c10/core/Device.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/core_set.h"
#include "base/scheduler.h"
#include "config/settings.h"
#include "memory/memory_governor.h"
#include "spill/query_spill.h"
#include "storage/metadata_cache.h"
#include "storage/object_store.h"
#include "storage/read_pool.h"
#include "storage/storage_context.h"

namespace pistachio {

class PooledAllocator;

// The device that the setting chooses. Throws UserError if it does not exist.
at::Device choose_device(DeviceChoice choice);
// device_memory_limit if it is not set: nine tenths of what is free on the device, or 0 on the CPU.
int64_t default_device_memory(at::Device device);

class EngineInstance {
 public:
  // Fills in the settings that depend on the machine. Binds workers to `cores`, if any are given and bind_threads allows it. Throws
  // UserError if the device does not exist.
  explicit EngineInstance(Settings settings, const CoreSet& cores = {});
  ~EngineInstance();

  const Settings& settings() const { return settings_; }
  Scheduler& scheduler() { return *scheduler_; }
  MemoryGovernor& governor() { return governor_; }
  MetadataCache& metadata_cache() { return metadata_cache_; }

  // The device that operators run on, unless their query has chosen the host.
  at::Device device() const { return device_; }

  // Peak memory of tensors in host memory so far.
  int64_t peak_memory() const;
  // Whether joins may read both inputs at the same time, in chunks of this size: chunks of every scan of a query are then in GPU memory.
  bool has_room_for_both_inputs(int64_t chunk_bytes) const;

  // One query's share of the engine. `settings` may differ from the engine's in settings that a query may change.
  class QueryScope {
   public:
    enum class Use { ScanOnly, Operators };
    QueryScope(EngineInstance& engine, Settings settings, Use use) : QueryScope(engine, std::move(settings), use, engine.device()) {}
    // For a query that runs on the host although the engine has a GPU, or on the engine's device.
    QueryScope(EngineInstance& engine, Settings settings, Use use, at::Device device);
    // Where the query runs.
    at::Device device() const { return device_; }
    StorageContext& storage() { return storage_; }
    const ReadPool& read_pool() const { return read_pool_; }
    // For memory that operators hold, on the device where they run. In host memory, scans are limited to half of the limit next to
    // operators: read-ahead must not starve them.
    const MemoryAccount& operator_memory() const { return operator_memory_; }
    QuerySpill& spill() { return spill_; }

   private:
    const at::Device device_;
    ReadPool read_pool_;
    MemoryAccount host_memory_;
    MemoryAccount operator_memory_;
    QuerySpill spill_;
    StorageContext storage_;
  };

 private:
  friend class QueryScope;

  static SpillTiers spill_tiers(at::Device device, const MemoryAccount& host, const Settings& settings);
  // Of the memory of a device, which is the engine's or the host.
  const MemoryGovernor& governor_of(at::Device device) const { return device.is_cpu() ? governor_ : *device_governor_; }

  Settings settings_;
  at::Device device_;
  PooledAllocator* allocator_;  // lives as long as the process
  MemoryGovernor governor_;
  std::optional<MemoryGovernor> device_governor_;  // on a GPU
  SpillSpace spill_space_;
  ObjectStores object_stores_;
  MetadataCache metadata_cache_;
  const std::shared_ptr<LaneStreams> lane_streams_ = std::make_shared<LaneStreams>();
  const std::shared_ptr<MappedFiles> mapped_files_;
  PressureRegistration mapped_pressure_;
  PressureRegistration metadata_pressure_;
  PressureRegistration allocator_pressure_;
  std::unique_ptr<Scheduler> scheduler_;
  std::atomic<int64_t> queries_ = 0;
};

}  // namespace pistachio
