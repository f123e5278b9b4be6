#include "engine/engine_instance.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>

#include "base/error.h"
#include "kernels/ops/device_memory.h"
#include "kernels/ops/kernel_mode.h"
#include "memory/pooled_allocator.h"

namespace pistachio {

namespace {

Settings completed(Settings settings) {
  complete_settings(settings);
  return settings;
}

}  // namespace

at::Device choose_device(DeviceChoice choice) {
  if (choice == DeviceChoice::Cpu) return at::kCPU;
  // Asks the CUDA runtime only if PyTorch was built with it.
  bool has_cuda = at::hasCUDA() && at::getNumGPUs() > 0;
  if (choice == DeviceChoice::Cuda && !has_cuda)
    throw UserError("device=cuda: there is no CUDA device that this build of PyTorch can use; set device=cpu or device=auto");
  return has_cuda ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU);
}

int64_t default_device_memory(at::Device device) {
  return kernels::device_memory(device).free / 10 * 9;
}

namespace {

// A scan has about five chunks in flight on a GPU, and those that it decompresses and decodes take three times their size: a fifth of the
// limit.
constexpr int64_t kDeviceChunksInLimit = 64;
// Retained rows get less of a GPU's memory than of the host's: the temporaries of kernels are larger, since chunks are, and blocks that are
// retained keep free memory between them from being used.
constexpr double kRetainedShareOfHost = 0.8;
constexpr double kRetainedShareOfDevice = 0.4;
constexpr int64_t kMinDeviceChunk = 1 << 20;
// Every stream has blocks of its own, in pages of 12 to 20 MB; those that a lane uses and those that are partly free take several.
constexpr int64_t kLimitPerScanLane = int64_t{256} << 20;

// Chunks in flight, and the temporaries of kernels on them, must fit into memory_limit however wide rows are, and into device_memory_limit.
Settings with_fitting_chunks(Settings settings, const MemoryGovernor* device) {
  constexpr int64_t kMinRows = 1024;
  constexpr int64_t kBytesPerRow = 1024;
  const int64_t fitting = std::max(kMinRows, settings.memory_limit / std::max<int64_t>(1, settings.threads) / kBytesPerRow);
  settings.chunk_rows = std::min(settings.chunk_rows, fitting);
  if (device != nullptr) {
    settings.device_chunk_bytes = std::min(settings.device_chunk_bytes, std::max(kMinDeviceChunk, device->limit() / kDeviceChunksInLimit));
    settings.device_scan_lanes = std::min(settings.device_scan_lanes, std::max<int64_t>(1, device->limit() / kLimitPerScanLane));
  }
  return settings;
}

}  // namespace

EngineInstance::EngineInstance(Settings settings, const CoreSet& cores)
    : settings_(completed(std::move(settings))),
      device_(choose_device(settings_.device)),
      allocator_(&process_allocator()),
      governor_(settings_.memory_limit, [allocator = allocator_] { return allocator->statistics().mapped_bytes; }),
      metadata_cache_(settings_.metadata_cache_bytes),
      mapped_files_(std::make_shared<MappedFiles>(
          governor_.process_account().make_child("registered files", settings_.gpu_registered_bytes), device_)) {
  allocator_->set_limit(settings_.memory_limit);
  if (device_.is_cuda()) {
    if (settings_.device_memory_limit == 0) settings_.device_memory_limit = std::max<int64_t>(1, default_device_memory(device_));
    kernels::limit_device_memory(device_, settings_.device_memory_limit);
    device_governor_.emplace(
        settings_.device_memory_limit, [device = device_] { return kernels::device_memory(device).tensors; },
        MemoryGovernor::Names{"GPU", "device_memory_limit"});
  }
  mapped_pressure_ = governor_.add_pressure_callback([this](int64_t wanted) { mapped_files_->release(wanted); });
  metadata_pressure_ = governor_.add_pressure_callback([this](int64_t wanted) { metadata_cache_.release(wanted); });
  allocator_pressure_ = governor_.add_pressure_callback([this](int64_t) { allocator_->trim(); });
  SchedulerOptions options;
  options.workers = static_cast<int>(settings_.threads);
  options.blocking_threads = static_cast<int>(settings_.io_threads);
  bool composite = settings_.composite_kernels;
  CoreSet own_cores = settings_.bind_threads == ThreadBinding::Off ? CoreSet() : cores;
  // Scans read ahead on streams of normal priority; operators get a higher one, because the host waits for their results.
  std::optional<c10::Stream> stream;
  if (device_.is_cuda()) stream = c10::impl::VirtualGuardImpl(device_.type()).getStreamFromGlobalPool(device_, /*isHighPriority=*/true);
  options.on_worker_start = [composite, own_cores, stream](int) {
    if (stream) c10::impl::VirtualGuardImpl(stream->device_type()).exchangeStream(*stream);
    // If the kernel refuses, only speed suffers.
    if (!own_cores.empty()) bind_this_thread(own_cores);
    at::set_num_threads(1);  // parallelism comes from our workers
    if (composite) kernels::set_kernel_mode(kernels::KernelMode::Composite);
  };
  scheduler_ = std::make_unique<Scheduler>(std::move(options));
}

EngineInstance::~EngineInstance() = default;

int64_t EngineInstance::peak_memory() const {
  return allocator_->statistics().peak_mapped_bytes;
}

bool EngineInstance::has_room_for_both_inputs(int64_t chunk_bytes) const {
  return device_governor_ && chunk_bytes <= device_governor_->limit() / (2 * kDeviceChunksInLimit);
}

// Rows that a GPU has no room for go to host memory first, as far as scans, which need the other half, leave some.
SpillTiers EngineInstance::spill_tiers(at::Device device, const MemoryAccount& host, const Settings& settings) {
  if (device.is_cpu()) return {.retained_share = kRetainedShareOfHost};
  return {.retained_share = kRetainedShareOfDevice, .host_memory = host.make_child("rows of the GPU", settings.memory_limit / 4)};
}

EngineInstance::QueryScope::QueryScope(EngineInstance& engine, Settings settings, Use use, at::Device device)
    : device_(device),
      read_pool_({settings.storage_bandwidth_limit}),
      host_memory_(engine.governor_.process_account().make_child(fmt::format("query {}", ++engine.queries_))),
      operator_memory_(device.is_cpu() ? host_memory_ : engine.device_governor_->process_account().make_child(host_memory_.name())),
      spill_(engine.spill_space_, engine.governor_of(device), settings, spill_tiers(device, host_memory_, settings)),
      storage_{with_fitting_chunks(settings, device.is_cpu() ? nullptr : &*engine.device_governor_),
               engine.object_stores_,
               engine.metadata_cache_,
               read_pool_,
               host_memory_.make_child("scan", use == Use::Operators ? std::optional(settings.memory_limit / 2) : std::nullopt),
               engine.lane_streams_,
               engine.mapped_files_,
               {[this](int64_t bytes) { return spill_.has_room(bytes); }, [this] { return spill_.relieve(); }}} {}

}  // namespace pistachio
