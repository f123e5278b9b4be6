// Copies bytes between arbitrarily aligned addresses with the threads of a block or warp: 16-byte stores, each assembled from aligned
// 4-byte loads. Reads nothing outside the source range, not even the rest of an aligned word.
#pragma once

#include <cstdint>

namespace pistachio::kernels::cuda {

// Thread `thread` of `threads` copies its share of `count` bytes. The ranges must not overlap.
__device__ inline void copy_bytes(uint8_t* __restrict__ to, const uint8_t* __restrict__ from, int64_t count, int thread, int threads) {
  const int64_t to_boundary = (16 - static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) & 15)) & 15;
  const int64_t head = to_boundary < count ? to_boundary : count;
  const int64_t units = (count - head) / 16, tail = count - head - units * 16;
  for (int64_t i = thread; i < head; i += threads) to[i] = from[i];
  const uint8_t* source = from + head;
  uint4* target = reinterpret_cast<uint4*>(to + head);
  const int misaligned = static_cast<int>(reinterpret_cast<uintptr_t>(source) & 3);
  if ((reinterpret_cast<uintptr_t>(source) & 15) == 0) {
    for (int64_t unit = thread; unit < units; unit += threads) target[unit] = reinterpret_cast<const uint4*>(source)[unit];
  } else {
    const uint32_t* words = reinterpret_cast<const uint32_t*>(source - misaligned);
    for (int64_t unit = thread; unit < units; unit += threads) {
      const uint32_t* word = words + unit * 4;
      uint4 value;
      if (misaligned == 0) {
        value = make_uint4(word[0], word[1], word[2], word[3]);
      } else if ((unit > 0 || head >= misaligned) && (unit + 1 < units || tail >= 4 - misaligned)) {
        const unsigned shift = static_cast<unsigned>(misaligned) * 8;
        value.x = __funnelshift_r(word[0], word[1], shift);
        value.y = __funnelshift_r(word[1], word[2], shift);
        value.z = __funnelshift_r(word[2], word[3], shift);
        value.w = __funnelshift_r(word[3], word[4], shift);
      } else {  // the first and last words contain bytes outside the range
        uint32_t parts[4] = {0, 0, 0, 0};
        for (int byte = 0; byte < 16; ++byte) parts[byte / 4] |= static_cast<uint32_t>(source[unit * 16 + byte]) << (byte % 4 * 8);
        value = make_uint4(parts[0], parts[1], parts[2], parts[3]);
      }
      target[unit] = value;
    }
  }
  const int64_t done = head + units * 16;
  for (int64_t i = thread; i < tail; i += threads) to[done + i] = from[done + i];
}

}  // namespace pistachio::kernels::cuda
