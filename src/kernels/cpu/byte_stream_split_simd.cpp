// Interleaves byte streams: 16 values per step for widths 2, 4 and 8; other widths in blocks that stay in L1.
#include "kernels/cpu/byte_stream_split_simd.h"

#include <algorithm>

#include "kernels/cpu/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/byte_stream_split_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pistachio::kernels::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE void join_any(const uint8_t* streams, int64_t stride, int64_t width, int64_t first, int64_t count, uint8_t* out) {
  constexpr int64_t block = 128;
  for (int64_t start = first; start < count; start += block) {
    const int64_t stop = std::min(count, start + block);
    for (int64_t byte = 0; byte < width; ++byte) {
      const uint8_t* stream = streams + byte * stride;
      for (int64_t i = start; i < stop; ++i) out[i * width + byte] = stream[i];
    }
  }
}

void JoinByteStreams(const uint8_t* streams, int64_t stride, int64_t width, int64_t count, uint8_t* out) {
  int64_t done = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::Full128<uint8_t> d8;
  const hn::Full128<uint16_t> d16;
  const auto load = [&](int64_t byte) HWY_ATTR { return hn::LoadU(d8, streams + byte * stride + done); };
  if (width == 2) {
    for (; done + 16 <= count; done += 16) hn::StoreInterleaved2(load(0), load(1), d8, out + done * 2);
  } else if (width == 4) {
    for (; done + 16 <= count; done += 16) hn::StoreInterleaved4(load(0), load(1), load(2), load(3), d8, out + done * 4);
  } else if (width == 8) {
    const auto lower = [&](int64_t byte) HWY_ATTR { return hn::BitCast(d16, hn::InterleaveLower(d8, load(byte), load(byte + 1))); };
    const auto upper = [&](int64_t byte) HWY_ATTR { return hn::BitCast(d16, hn::InterleaveUpper(d8, load(byte), load(byte + 1))); };
    for (; done + 16 <= count; done += 16) {
      uint16_t* target = reinterpret_cast<uint16_t*>(out + done * 8);
      hn::StoreInterleaved4(lower(0), lower(2), lower(4), lower(6), d16, target);
      hn::StoreInterleaved4(upper(0), upper(2), upper(4), upper(6), d16, target + 32);
    }
  }
#endif
  join_any(streams, stride, width, done, count, out);
}

}  // namespace pistachio::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pistachio::kernels::cpu {

HWY_EXPORT(JoinByteStreams);

void join_byte_streams(const uint8_t* streams, int64_t stride, int64_t width, int64_t count, uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(JoinByteStreams)(streams, stride, width, count, out);
}

}  // namespace pistachio::kernels::cpu
#endif
