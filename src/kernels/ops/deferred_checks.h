// Errors in the data that kernels find on a GPU, collected over many calls: waiting for the device after each call would cost more than
// most of the calls. Kernels that only check (the digits of decimals, the codes of a page, the range of a product) then report to a word
// of device memory, which is read once. A failed check has no effect at first: the call returns values that are wrong, but safe to compute
// with. The caller therefore repeats the same calls, each with its own wait, to find the exact error, or that there was none: a failing
// dictionary entry that no row uses is not an error.
// Per thread, like the kernel mode: must not be alive across a co_await. On the CPU checks are never deferred.
#pragma once

#include <ATen/core/Tensor.h>

#include "base/error.h"

namespace pistachio::kernels {

class DeferredChecks {
 public:
  DeferredChecks();
  ~DeferredChecks();
  DeferredChecks(const DeferredChecks&) = delete;
  DeferredChecks& operator=(const DeferredChecks&) = delete;

  // Whether a check failed. Waits for the device's current stream, unless nothing was deferred.
  bool failed() const;

  // For kernels: int64 [1] on `device`, to be made non-zero by a failed check; undefined if this thread does not defer checks.
  static at::Tensor word_on(at::Device device);

 private:
  DeferredChecks* const former_;
  at::Tensor word_;  // allocated by the first check
};

// The result of `body`, which must be repeatable. Its checks are deferred; if one fails, it runs again without that.
template <typename Body>
auto with_deferred_checks(at::Device device, const Body& body) {
  if (device.is_cpu()) return body();
  {
    const DeferredChecks checks;
    try {
      auto result = body();
      if (!checks.failed()) return result;
    } catch (const Error&) {
      if (!checks.failed()) throw;  // otherwise it may be a consequence
    }
  }
  return body();
}

}  // namespace pistachio::kernels
