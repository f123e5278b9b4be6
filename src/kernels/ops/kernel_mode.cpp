#include "kernels/ops/kernel_mode.h"

namespace pistachio::kernels {

namespace {
thread_local KernelMode mode_of_this_thread = KernelMode::Tuned;
}

KernelMode kernel_mode() {
  return mode_of_this_thread;
}

void set_kernel_mode(KernelMode mode) {
  mode_of_this_thread = mode;
}

}  // namespace pistachio::kernels
