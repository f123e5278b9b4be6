// CUDA bodies of the operations that count waits for a device. CUPTI calls us before and after the runtime calls in question, on the thread
// that makes them. It is loaded when first used, since nothing else needs it; PyTorch usually has it in the process already.
#include "kernels/cuda/kernel_call.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/device_waits.h"

#if __has_include(<cupti.h>)

#include <cupti.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <chrono>
#include <string>

namespace pistachio::kernels::cuda {

namespace {

constexpr CUpti_CallbackId kCalls[] = {
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020, CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_ptsz_v7000,
    CUPTI_RUNTIME_TRACE_CBID_cudaEventSynchronize_v3020,  CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaFree_v3020,              CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_ptds_v7000,       CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_ptsz_v7000,
};

// The functions of CUPTI that are used here. The library stays in the process: it does not support being unloaded.
struct Cupti {
  decltype(&cuptiSubscribe) subscribe = nullptr;
  decltype(&cuptiUnsubscribe) unsubscribe = nullptr;
  decltype(&cuptiEnableCallback) enable = nullptr;

  Cupti() {
    const std::string versioned = fmt::format("libcupti.so.{}", CUDART_VERSION / 1000);
    void* library = dlopen(versioned.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) library = dlopen("libcupti.so", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    find(library, "cuptiSubscribe", subscribe);
    find(library, "cuptiUnsubscribe", unsubscribe);
    find(library, "cuptiEnableCallback", enable);
  }
  bool is_complete() const { return subscribe != nullptr && unsubscribe != nullptr && enable != nullptr; }

 private:
  template <typename Function>
  static void find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
  }
};

bool is_pageable(const void* host) {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, host) != cudaSuccess) {
    (void)cudaGetLastError();  // else the next launch would report it
    return false;
  }
  return attributes.type == cudaMemoryTypeUnregistered;
}

// All four kinds of copies begin with these parameters.
bool is_pageable_copy(const void* parameters) {
  const auto& copy = *static_cast<const cudaMemcpy_v3020_params*>(parameters);
  if (copy.count == 0) return false;
  switch (copy.kind) {
    case cudaMemcpyHostToDevice: return is_pageable(copy.src);
    case cudaMemcpyDeviceToHost: return is_pageable(copy.dst);
    case cudaMemcpyDefault: return is_pageable(copy.src) || is_pageable(copy.dst);
    default: return false;
  }
}

struct Wait {
  bool is_synchronization = false;
  bool is_pageable_copy = false;
};

// An asynchronous copy of pageable memory waits, too, but PyTorch synchronizes right after it: one wait is not counted twice.
Wait classify(CUpti_CallbackId call, const void* parameters) {
  switch (call) {
    case CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_v3020:
    case CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_ptds_v7000: return {true, is_pageable_copy(parameters)};
    case CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020:
    case CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_ptsz_v7000: return {false, is_pageable_copy(parameters)};
    case CUPTI_RUNTIME_TRACE_CBID_cudaFree_v3020: return {static_cast<const cudaFree_v3020_params*>(parameters)->devPtr != nullptr, false};
    default: return {true, false};
  }
}

void add_wait(DeviceWaits& waits, const Wait& wait, int64_t nanoseconds) {
  if (wait.is_synchronization) ++waits.synchronizations;
  if (wait.is_pageable_copy) ++waits.pageable_copies;
  waits.nanoseconds += nanoseconds;
}

uint64_t now() {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}

void CUPTIAPI on_call(void* total, CUpti_CallbackDomain, CUpti_CallbackId call, const void* call_data) {
  const auto& data = *static_cast<const CUpti_CallbackData*>(call_data);
  if (data.callbackSite == CUPTI_API_ENTER) {
    *data.correlationData = now();
    return;
  }
  const auto nanoseconds = static_cast<int64_t>(now() - *data.correlationData);
  const Wait wait = classify(call, data.functionParams);
  if (!wait.is_synchronization && !wait.is_pageable_copy) return;
  add_wait(*static_cast<DeviceWaits*>(total), wait, nanoseconds);
  if (DeviceWaits* place = DeviceWaitPlace::current()) add_wait(*place, wait, nanoseconds);
}

const Cupti& cupti() {
  static const Cupti functions;
  return functions;
}

int64_t count_device_waits(const at::Tensor& like, int64_t waits) {
  const KernelCall call(like);
  if (!cupti().is_complete()) return 0;
  CUpti_SubscriberHandle subscriber = nullptr;
  if (cupti().subscribe(&subscriber, on_call, reinterpret_cast<void*>(static_cast<intptr_t>(waits))) != CUPTI_SUCCESS) return 0;
  for (CUpti_CallbackId id : kCalls) {
    if (cupti().enable(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API, id) == CUPTI_SUCCESS) continue;
    (void)cupti().unsubscribe(subscriber);
    return 0;
  }
  return static_cast<int64_t>(reinterpret_cast<intptr_t>(subscriber));
}

// Called by a destructor: a failure has no consequence but further counting.
void stop_counting_device_waits(const at::Tensor&, int64_t subscription) {
  (void)cupti().unsubscribe(reinterpret_cast<CUpti_SubscriberHandle>(static_cast<intptr_t>(subscription)));
}

}  // namespace

REGISTER_BODY(Cuda, "count_device_waits", count_device_waits);
REGISTER_BODY(Cuda, "stop_counting_device_waits", stop_counting_device_waits);

}  // namespace pistachio::kernels::cuda

#endif  // without the header, the composite bodies count nothing
