// The loop over the runs of an RLE/bit-packed stream, compiled as a whole per instruction set: common writers limit bit-packed runs to 504
// values, so an indirect call per run would be noticeable.
#include "kernels/cpu/rle_decode_simd.h"

#include "kernels/cpu/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/rle_decode_simd.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/bit_unpack_inl.h"

HWY_BEFORE_NAMESPACE();
namespace pistachio::kernels::cpu::HWY_NAMESPACE {

// Values [first, first + count) of a bit-packed run. Only multiples of 8 start at a byte boundary; other starts go through a small buffer.
HWY_INLINE void unpack_part(BitUnpacker& unpacker, const RleRun& run, int bit_width, int64_t first, int64_t count, uint32_t* out,
                            uint32_t& max) {
  const int64_t start = first & ~int64_t{7};
  const uint8_t* packed = run.packed + start / 8 * bit_width;
  const int64_t readable = run.packed_bytes - start / 8 * bit_width;
  const int64_t before = first - start;
  if (before == 0) {
    unpacker.unpack(packed, readable, count, out);
    return;
  }
  const int64_t in_group = std::min<int64_t>(8 - before, count);
  for (int64_t i = 0; i < in_group; ++i) {
    out[i] = static_cast<uint32_t>(unpack_one(packed, readable, bit_width, before + i));
    max = std::max(max, out[i]);
  }
  if (count > in_group) unpacker.unpack(packed + bit_width, readable - bit_width, count - in_group, out + in_group);
}

RleOutcome DecodeRle(const uint8_t* begin, const uint8_t* end, int bit_width, int64_t skip, int64_t take, uint32_t* out) {
  RleRunReader reader(begin, end, bit_width);
  BitUnpacker unpacker(bit_width);
  uint32_t max = 0;
  RleRun run;
  int64_t left = 0;  // values of the last run that were neither skipped nor taken
  while (skip + take > 0) {
    if (const RleProblem problem = reader.next(run); problem != RleProblem::None) return {problem, reader.position() - begin, 0};
    const int64_t skipped = std::min(skip, run.count);
    const int64_t taken = std::min(take, run.count - skipped);
    skip -= skipped;
    take -= taken;
    left = run.count - skipped - taken;
    if (taken == 0) continue;
    if (run.packed == nullptr) {
      std::fill_n(out, taken, run.value);
      max = std::max(max, run.value);
    } else {
      unpack_part(unpacker, run, bit_width, skipped, taken, out, max);
    }
    out += taken;
  }
  if (run.packed == nullptr && left >= 8) return {RleProblem::Surplus, reader.position() - begin, 0};
  return {RleProblem::None, reader.position() - begin, std::max(max, unpacker.max())};
}

}  // namespace pistachio::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pistachio::kernels::cpu {

HWY_EXPORT(DecodeRle);

RleOutcome decode_rle(const uint8_t* begin, const uint8_t* end, int bit_width, int64_t skip, int64_t take, uint32_t* out) {
  return HWY_DYNAMIC_DISPATCH(DecodeRle)(begin, end, bit_width, skip, take, out);
}

}  // namespace pistachio::kernels::cpu
#endif
