// Names the instruction set that the CPU kernels chose at run time ("AVX3_DL" is AVX-512 of Ice Lake and newer), for `version` output
// and profiles. "none" in a program that links no CPU bodies.
#pragma once

#include <string>

namespace pistachio::kernels {

std::string chosen_instruction_set();

// The CPU bodies call this once, while static objects are built: this folder may not include theirs.
using InstructionSetName = std::string (*)();
bool register_instruction_set(InstructionSetName name);

}  // namespace pistachio::kernels
