// The instruction set that the CPU kernels chose at run time ("AVX3_DL" is AVX-512 of Ice Lake and newer), for `version` output
// and profiles. "none" in a program without CPU bodies.
#pragma once

#include <string>

namespace pistachio::kernels {

std::string chosen_instruction_set();

// Called once by the CPU bodies during static initialization, since this folder may not include theirs.
using InstructionSetName = std::string (*)();
bool register_instruction_set(InstructionSetName name);

}  // namespace pistachio::kernels
