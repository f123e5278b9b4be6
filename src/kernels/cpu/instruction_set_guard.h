// Lets tests and benchmarks run the CPU bodies of every instruction set of this machine; restores the best one at the end.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cpu/simd_targets.h"

#include <hwy/highway.h>
#include <hwy/targets.h>

namespace pistachio::kernels {

class InstructionSetGuard {
 public:
  explicit InstructionSetGuard(int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  ~InstructionSetGuard() {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  InstructionSetGuard(const InstructionSetGuard&) = delete;
  InstructionSetGuard& operator=(const InstructionSetGuard&) = delete;
};

inline std::vector<int64_t> available_instruction_sets() {
  return hwy::SupportedAndGeneratedTargets();
}

}  // namespace pistachio::kernels
