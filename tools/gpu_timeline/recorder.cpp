// Records what a program does on the GPU, without changing it: a library that CUDA loads into the process (CUDA_INJECTION64_PATH). It writes
// one line per kernel, copy and CUDA call to the file named by GPU_TIMELINE:
//   kind <tab> name <tab> begin ns <tab> end ns <tab> stream or thread <tab> bytes
// report.py builds this library and reads the file.
#include <cuda.h>
#include <cupti.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace {

constexpr size_t kBufferBytes = size_t{4} << 20;

std::FILE* output = nullptr;
std::mutex output_mutex;

void CUPTIAPI give_buffer(uint8_t** buffer, size_t* size, size_t* most_records) {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *size = kBufferBytes;
  *most_records = 0;
}

const char* copy_name(uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD: return "host to device";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH: return "device to host";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD: return "device to device";
    default: return "other copy";
  }
}

bool is_pageable(const CUpti_ActivityMemcpy6& copy) {
  return copy.srcKind == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE || copy.dstKind == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
}

void write_record(const CUpti_Activity& record) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      const auto& kernel = reinterpret_cast<const CUpti_ActivityKernel10&>(record);
      std::fprintf(output, "kernel\t%s\t%llu\t%llu\t%u\t0\n", kernel.name, static_cast<unsigned long long>(kernel.start),
                   static_cast<unsigned long long>(kernel.end), kernel.streamId);
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto& copy = reinterpret_cast<const CUpti_ActivityMemcpy6&>(record);
      std::fprintf(output, "copy\t%s%s\t%llu\t%llu\t%u\t%llu\n", copy_name(copy.copyKind), is_pageable(copy) ? ", pageable" : "",
                   static_cast<unsigned long long>(copy.start), static_cast<unsigned long long>(copy.end), copy.streamId,
                   static_cast<unsigned long long>(copy.bytes));
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
      const auto& fill = reinterpret_cast<const CUpti_ActivityMemset4&>(record);
      std::fprintf(output, "kernel\tmemset\t%llu\t%llu\t%u\t%llu\n", static_cast<unsigned long long>(fill.start),
                   static_cast<unsigned long long>(fill.end), fill.streamId, static_cast<unsigned long long>(fill.bytes));
      break;
    }
    case CUPTI_ACTIVITY_KIND_RUNTIME: {
      const auto& call = reinterpret_cast<const CUpti_ActivityAPI&>(record);
      const char* name = nullptr;
      if (cuptiGetCallbackName(CUPTI_CB_DOMAIN_RUNTIME_API, call.cbid, &name) != CUPTI_SUCCESS) break;
      std::fprintf(output, "call\t%s\t%llu\t%llu\t%u\t0\n", name, static_cast<unsigned long long>(call.start),
                   static_cast<unsigned long long>(call.end), call.threadId);
      break;
    }
    default: break;
  }
}

void CUPTIAPI take_buffer(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t used) {
  std::lock_guard lock(output_mutex);
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, used, &record) == CUPTI_SUCCESS) write_record(*record);
  std::free(buffer);
}

// The process may end without running exit handlers, so everything is written soon after it happened.
void write_often() {
  while (true) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    cuptiActivityFlushAll(0);
    std::lock_guard lock(output_mutex);
    std::fflush(output);
  }
}

}  // namespace

extern "C" int InitializeInjection() {
  const char* path = std::getenv("GPU_TIMELINE");
  output = path == nullptr ? nullptr : std::fopen(path, "w");
  if (output == nullptr) return 0;
  cuptiActivityRegisterCallbacks(give_buffer, take_buffer);
  for (CUpti_ActivityKind kind : {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET,
                                  CUPTI_ACTIVITY_KIND_RUNTIME})
    cuptiActivityEnable(kind);
  std::thread(write_often).detach();
  return 1;
}
