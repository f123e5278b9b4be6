// Reports the instruction set that Highway picked, through a function compiled for each.
#include <string>

#include "kernels/cpu/simd_targets.h"
#include "kernels/ops/instruction_set.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/instruction_set_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pistachio::kernels::cpu::HWY_NAMESPACE {

const char* NameOfTarget() {
  return hwy::TargetName(HWY_TARGET);
}

}  // namespace pistachio::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pistachio::kernels::cpu {

HWY_EXPORT(NameOfTarget);

namespace {
const bool registered = register_instruction_set([]() -> std::string { return HWY_DYNAMIC_DISPATCH(NameOfTarget)(); });
}

}  // namespace pistachio::kernels::cpu
#endif
