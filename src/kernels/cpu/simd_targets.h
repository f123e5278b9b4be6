// Which instruction sets the inner loops are compiled for; include before any Highway header. SSSE3 and SSE4 are left out: machines
// without AVX2 are too old to tune for and take the plain loops. AVX3_DL (AVX-512 of Ice Lake, Zen 4 and newer) is opt-in in Highway and
// worth it here: permutation of bytes, compress and expand of bytes. On 64-bit ARM it is NEON alone: vectors of SVE have no size, so no
// structure can hold one, and some loops keep their state in one.
//
// A file with inner loops, <idea>_simd.cpp, includes no ATen header and follows Highway's pattern: its middle part is compiled once per
// instruction set, in namespace HWY_NAMESPACE; HWY_EXPORT and HWY_DYNAMIC_DISPATCH pick one at run time.
#pragma once

#define HWY_WANT_AVX3_DL
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
