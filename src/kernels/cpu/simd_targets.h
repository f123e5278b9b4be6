// The instruction sets that the inner loops are compiled for; include before any Highway header. SSSE3 and SSE4 are disabled: machines
// without AVX2 are too old to tune for and use the scalar loops. AVX3_DL (AVX-512 of Ice Lake, Zen 4 and newer) is opt-in in Highway and
// pays off here: byte permutes, byte compress and expand. On 64-bit ARM only NEON: SVE vectors are sizeless, and some loops keep vectors in
// structs.
//
// A file with inner loops, <idea>_simd.cpp, includes no ATen header and follows Highway's pattern: its middle part is compiled once per
// instruction set, in namespace HWY_NAMESPACE; HWY_EXPORT and HWY_DYNAMIC_DISPATCH pick one at run time.
#pragma once

#define HWY_WANT_AVX3_DL
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
