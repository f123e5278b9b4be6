// What a Snappy tag says about its element, by table: parsing each byte as a tag takes several times as many instructions.
#pragma once

#include <cstdint>

#include "kernels/cuda/snappy_element.cuh"
#include "kernels/cuda/snappy_row_exit.cuh"

namespace pistachio::kernels::cuda {

// In shared memory.
class SnappyTags {
 public:
  // Called by the whole block; the caller synchronizes afterwards.
  __device__ void fill() {
    for (uint32_t tag = threadIdx.x; tag < kTags; tag += blockDim.x) {
      const SnappyElement element = parse_snappy(NoBytes(), 0, tag);
      exits_[tag] = element.is_long ? 0 : SnappyRowExit::after(0, element).packed;
    }
  }

  // The element's exit if it is at the first byte of a row. Of length 0 if it is a long literal, whose length is behind the tag.
  __device__ SnappyRowExit exit_of(uint32_t tag) const { return {exits_[tag]}; }

 private:
  static constexpr uint32_t kTags = 256;

  // Offsets do not matter here.
  struct NoBytes {
    __device__ uint32_t bits32(uint32_t) const { return 0; }
  };

  uint32_t exits_[kTags];
};

}  // namespace pistachio::kernels::cuda
