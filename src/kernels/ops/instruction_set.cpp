#include "kernels/ops/instruction_set.h"

namespace pistachio::kernels {

namespace {
// Constant-initialized, so that it exists before static registration runs; written once by that, then only read.
constinit InstructionSetName registered_name = nullptr;
}  // namespace

std::string chosen_instruction_set() {
  return registered_name ? registered_name() : "none";
}

bool register_instruction_set(InstructionSetName name) {
  registered_name = name;
  return true;
}

}  // namespace pistachio::kernels
