// Which bodies this thread's kernel calls use: the tuned ones of the device, or the composite ones (stock ATen calls, slow and simple).
// Tests compare the two; the setting `composite_kernels` switches a whole engine to composite bodies, to tell whether a bug is in a tuned
// kernel. The mode is thread-local, so a worker sets it before it runs a query's task.
#pragma once

namespace pistachio::kernels {

enum class KernelMode { Tuned, Composite };

KernelMode kernel_mode();
// For workers: valid until the next call on this thread.
void set_kernel_mode(KernelMode mode);

// For a scope: restores the previous mode at its end.
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
