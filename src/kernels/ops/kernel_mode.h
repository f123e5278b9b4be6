// Which bodies the kernels of this thread use: the tuned ones of the device, or the composite ones (stock ATen calls, slow, obviously
// right). Tests compare the two; the setting `composite_kernels` switches a whole engine to the composite ones to tell a kernel bug
// from another bug. The mode is a property of the thread, so a worker that runs a query's task sets it first; nothing is shared.
#pragma once

namespace pistachio::kernels {

enum class KernelMode { Tuned, Composite };

KernelMode kernel_mode();
// For workers: holds until the next call on this thread.
void set_kernel_mode(KernelMode mode);

// For a scope: puts the former mode back at its end.
class KernelModeGuard {
 public:
  explicit KernelModeGuard(KernelMode mode) : former_(kernel_mode()) { set_kernel_mode(mode); }
  ~KernelModeGuard() { set_kernel_mode(former_); }
  KernelModeGuard(const KernelModeGuard&) = delete;
  KernelModeGuard& operator=(const KernelModeGuard&) = delete;

 private:
  KernelMode former_;
};

}  // namespace pistachio::kernels
