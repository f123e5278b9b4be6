// The errors that a decode kernel can find in a page, and the word of device memory in which the blocks of a launch record the first one.
// No torch headers: nvcc compiles this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace pistachio::kernels::cuda {

enum class DecodeProblem : uint8_t {
  None,
  EndsEarly,
  NumberTooLong,
  ValueTooWide,
  RunTooLong,
  CodeAboveLimit,
  LevelAboveMax,
  TextCrossesEnd,
  DeltaBlockSize,
  DeltaTooFewValues,
  DeltaBitWidth,
  RowOutOfRange,
  SuffixOutOfRange,
  PrefixTooLong,
  Surplus,
};

struct DecodeFailure {
  DecodeProblem problem = DecodeProblem::None;
  int64_t page = 0;    // row of the page table; 0 for operations without pages
  int64_t offset = 0;  // bytes from the start of the page; a row for operations without pages
};

// The first failure by (page, offset), packed into one word: 24 bits of page, 35 of offset, 5 of problem. Larger numbers saturate, which
// only makes the location in the message inexact. Stored inverted, so that 0 means no failure and atomicMax keeps the first.
class FailureWord {
 public:
  explicit FailureWord(unsigned long long* word) : word_(word) {}

#ifdef __CUDACC__
  __device__ void report(DecodeProblem problem, int64_t page, int64_t offset) const {
    const unsigned long long page_bits = page < max_page ? page : max_page;
    const unsigned long long offset_bits = offset < 0 ? 0 : offset < max_offset ? offset : max_offset;
    atomicMax(word_, ~(page_bits << 40 | offset_bits << 5 | static_cast<unsigned long long>(problem)));
  }
#endif

  static DecodeFailure unpack(unsigned long long word) {
    if (word == 0) return {};
    const unsigned long long key = ~word;
    return {static_cast<DecodeProblem>(key & 31), static_cast<int64_t>(key >> 40), static_cast<int64_t>(key >> 5 & max_offset)};
  }

 private:
  static constexpr int64_t max_page = (int64_t{1} << 24) - 1;
  static constexpr int64_t max_offset = (int64_t{1} << 35) - 1;

  unsigned long long* word_;
};

}  // namespace pistachio::kernels::cuda
