// Stops a long kernel from another thread. Kernels know no tokens: the caller sets the flag when its token is cancelled, and passes the
// flag's tensor as the `stop` argument. A kernel that takes one polls it between strips of its rows and throws Cancelled.
// Set from any thread. Memory: one byte on the host.
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>

namespace pistachio::kernels {

class StopFlag {
 public:
  StopFlag();
  void set() const { std::atomic_ref<bool>(*flag_.mutable_data_ptr<bool>()).store(true, std::memory_order_relaxed); }
  const at::Tensor& tensor() const { return flag_; }

 private:
  at::Tensor flag_;  // bool [1]
};

// For entry points: checks the argument; undefined means that nothing stops the kernel.
std::optional<at::Tensor> optional_stop(const at::Tensor& stop);

// For bodies.
class StopCheck {
 public:
  explicit StopCheck(const std::optional<at::Tensor>& stop) : flag_(stop ? stop->mutable_data_ptr<bool>() : nullptr) {}
  // Throws Cancelled if the flag is set; the caller of the kernel knows the reason.
  void operator()() const {
    if (flag_ != nullptr && std::atomic_ref<bool>(*flag_).load(std::memory_order_relaxed)) [[unlikely]]
      throw_stopped();
  }

 private:
  [[noreturn]] static void throw_stopped();

  bool* flag_;
};

// For bodies: calls body(begin, end) for the strips of [0, rows), polling before each. A strip takes tens of milliseconds even if every row
// misses the cache.
template <typename Body>
void for_each_strip(int64_t rows, const StopCheck& stop, const Body& body) {
  constexpr int64_t strip = int64_t{1} << 20;
  for (int64_t begin = 0; begin < rows; begin += strip) {
    stop();
    body(begin, std::min(begin + strip, rows));
  }
}

}  // namespace pistachio::kernels
