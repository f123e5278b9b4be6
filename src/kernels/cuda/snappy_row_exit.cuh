// A chain of Snappy tags inside a row of 32 bytes; each thread of a warp holds one byte.
#pragma once

#include <cstdint>

#include "kernels/cuda/snappy_element.cuh"

namespace pistachio::kernels::cuda {

// For the chain that enters the row at the thread's byte: where it leaves, relative to the row, and the bytes that the elements on its way
// yield. If it leaves at a byte of the row, it ends there. Packed into one register, so that one shuffle moves it.
struct SnappyRowExit {
  static constexpr uint32_t doubling_rounds = 4;  // an element takes at least two bytes

  uint32_t packed;

  // A chain of one element; its input must end within the next 500 bytes.
  __device__ static SnappyRowExit after(uint32_t lane, const SnappyElement& element) {
    return {(lane + element.input_bytes()) | element.length << 16};
  }
  __device__ static SnappyRowExit end(uint32_t lane) { return {lane}; }

  __device__ uint32_t next() const { return packed & 0x1ff; }
  __device__ uint32_t made() const { return packed >> 16; }

  // Adds what follows from the place where the chain leaves; `shift` is the distance between the rows.
  __device__ void follow(uint32_t later, uint32_t shift = 0) { packed = (packed & ~0x1ffu) + later + shift; }

  // A round of pointer doubling. Called by the whole warp.
  __device__ void follow_in_row() {
    const uint32_t place = next(), later = __shfl_sync(~0u, packed, place % 32);
    if (place < 32) follow(later);
  }
};

}  // namespace pistachio::kernels::cuda
