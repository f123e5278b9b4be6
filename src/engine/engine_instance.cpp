#include "engine/engine_instance.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>

#include "base/error.h"
#include "kernels/ops/kernel_mode.h"
#include "memory/pooled_allocator.h"

namespace pistachio {

namespace {

Settings completed(Settings settings) {
  complete_settings(settings);
  return settings;
}

at::Device choose_device(DeviceChoice choice) {
  if (choice == DeviceChoice::Cpu) return at::kCPU;
  // Asks the CUDA runtime only if PyTorch was built with it.
  bool has_cuda = at::hasCUDA() && at::getNumGPUs() > 0;
  if (choice == DeviceChoice::Cuda && !has_cuda)
    throw UserError("device=cuda: there is no CUDA device that this build of PyTorch can use; set device=cpu or device=auto");
  return has_cuda ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU);
}

// Chunks in flight, and the temporaries of kernels on them, must fit into memory_limit however wide rows are.
Settings with_fitting_chunks(Settings settings) {
  constexpr int64_t kLeastRows = 1024;
  constexpr int64_t kBytesPerRow = 1024;
  const int64_t fitting = std::max(kLeastRows, settings.memory_limit / std::max<int64_t>(1, settings.threads) / kBytesPerRow);
  settings.chunk_rows = std::min(settings.chunk_rows, fitting);
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

EngineInstance::QueryScope::QueryScope(EngineInstance& engine, Settings settings, Use use)
    : read_pool_({settings.storage_bandwidth_limit}),
      operator_memory_(engine.governor_.process_account().make_child(fmt::format("query {}", ++engine.queries_))),
      spill_(engine.spill_space_, engine.governor_, settings),
      storage_{with_fitting_chunks(settings), engine.object_stores_, engine.metadata_cache_, read_pool_,
               operator_memory_.make_child("scan", use == Use::Operators ? std::optional(settings.memory_limit / 2) : std::nullopt),
               engine.lane_streams_,
               engine.mapped_files_} {}

}  // namespace pistachio
