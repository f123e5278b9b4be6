// Entry points of the operations that count waits for a device.
#include "kernels/ops/device_waits.h"

#include <utility>

#include "kernels/ops/dispatch.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels {

namespace {

thread_local DeviceWaits* current_place = nullptr;

int64_t subscribe(at::Device device, DeviceWaits* total) {
  static const Operation<int64_t(const at::Tensor&, int64_t)> operation("count_device_waits");
  const at::Tensor like = tensor_on(device);
  return operation.on(like)(like, static_cast<int64_t>(reinterpret_cast<intptr_t>(total)));
}

void unsubscribe(at::Device device, int64_t subscription) {
  static const Operation<void(const at::Tensor&, int64_t)> operation("stop_counting_device_waits");
  const at::Tensor like = tensor_on(device);
  operation.on(like)(like, subscription);
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

}  // namespace pistachio::kernels
