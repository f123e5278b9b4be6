// Schemas and entry points of the operations that count waits for a device.
#include "kernels/ops/device_waits.h"

#include <torch/library.h>

#include <utility>

#include "kernels/ops/dispatch.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels {

namespace {

thread_local DeviceWaits* current_place = nullptr;

int64_t subscribe(at::Device device, DeviceWaits* total) {
  static const auto operation = find_operation<int64_t(const at::Tensor&, int64_t)>("pistachio::count_device_waits");
  const at::Tensor like = tensor_on(device);
  return operation.redispatch(dispatch_keys(like), like, static_cast<int64_t>(reinterpret_cast<intptr_t>(total)));
}

void unsubscribe(at::Device device, int64_t subscription) {
  static const auto operation = find_operation<void(const at::Tensor&, int64_t)>("pistachio::stop_counting_device_waits");
  const at::Tensor like = tensor_on(device);
  operation.redispatch(dispatch_keys(like), like, subscription);
}

}  // namespace

void DeviceWaits::add(const DeviceWaits& other) {
  synchronizations += other.synchronizations;
  pageable_copies += other.pageable_copies;
  nanoseconds += other.nanoseconds;
}

DeviceWaitPlace::DeviceWaitPlace(DeviceWaits& waits) : former_(std::exchange(current_place, &waits)) {}

DeviceWaitPlace::~DeviceWaitPlace() {
  current_place = former_;
}

DeviceWaits* DeviceWaitPlace::current() {
  return current_place;
}

DeviceWaitCounter::DeviceWaitCounter(at::Device device) : device_(device), subscription_(subscribe(device, &total_)) {}

DeviceWaitCounter::~DeviceWaitCounter() {
  if (is_counting()) unsubscribe(device_, subscription_);
}

TORCH_LIBRARY_FRAGMENT(pistachio, library) {
  // `waits` is the address of a DeviceWaits. Returns a subscription, or 0 if nothing can be counted.
  library.def("count_device_waits(Tensor like, int waits) -> int");
  library.def("stop_counting_device_waits(Tensor like, int subscription) -> ()");
}

}  // namespace pistachio::kernels
