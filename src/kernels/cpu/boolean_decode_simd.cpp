// Levels of one bit, the usual case of a flat nullable column, are expanded directly from bits to bytes; wider ones are unpacked in small
// blocks and compared. Repeated runs are a memset.
#include "kernels/cpu/boolean_decode_simd.h"

#include "kernels/cpu/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/boolean_decode_simd.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/bit_expand_inl.h"
#include "kernels/cpu/bit_unpack_inl.h"

HWY_BEFORE_NAMESPACE();
namespace pistachio::kernels::cpu::HWY_NAMESPACE {

// Compares values [first, first + count) of a bit-packed run with max_level and returns the number of matches; a null `out` only counts.
HWY_INLINE int64_t compare_packed(BitUnpacker& unpacker, const RleRun& run, int bit_width, uint32_t max_level, int64_t first, int64_t count,
                                  uint8_t* out) {
  if (bit_width == 1) return expand_bits(run.packed, run.packed_bytes, first, count, out);
  constexpr int64_t block = 512;
  uint32_t levels[block + 8];
  int64_t equal = 0;
  for (int64_t done = 0; done < count;) {
    const int64_t start = (first + done) & ~int64_t{7}, before = first + done - start;
    const int64_t step = std::min<int64_t>(block, count - done);
    const int64_t byte = start / 8 * bit_width;
    unpacker.unpack(run.packed + byte, run.packed_bytes - byte, before + step, levels);
    int64_t equal_here = 0;
    if (out != nullptr) {
      for (int64_t i = 0; i < step; ++i) {
        out[done + i] = static_cast<uint8_t>(levels[before + i] == max_level);
        equal_here += out[done + i];
      }
    } else {
      for (int64_t i = 0; i < step; ++i) equal_here += levels[before + i] == max_level;
    }
    equal += equal_here;
    done += step;
  }
  return equal;
}

LevelsOutcome DecodeLevels(const uint8_t* begin, const uint8_t* end, uint32_t max_level, int64_t skip, int64_t take, uint8_t* out) {
  const int bit_width = 32 - __builtin_clz(max_level);
  RleRunReader reader(begin, end, bit_width);
  BitUnpacker unpacker(bit_width);
  LevelsOutcome outcome;
  RleRun run;
  while (skip + take > 0) {
    outcome.problem = reader.next(run);
    outcome.offset = reader.position() - begin;
    if (outcome.problem != RleProblem::None) return outcome;
    const int64_t skipped = std::min(skip, run.count);
    const int64_t taken = std::min(take, run.count - skipped);
    if (run.packed == nullptr) {
      if (run.value > max_level && skipped + taken > 0) {
        outcome.above_max = true;
        return outcome;
      }
      const bool valid = run.value == max_level;
      fill_bytes(out, valid, taken);
      outcome.valid_skipped += valid ? skipped : 0;
      outcome.valid_taken += valid ? taken : 0;
    } else {
      outcome.valid_skipped += compare_packed(unpacker, run, bit_width, max_level, 0, skipped, nullptr);
      outcome.valid_taken += compare_packed(unpacker, run, bit_width, max_level, skipped, taken, out);
    }
    out += taken;
    skip -= skipped;
    take -= taken;
  }
  outcome.above_max = unpacker.max() > max_level;
  return outcome;
}

void DecodeBits(const uint8_t* begin, const uint8_t* end, int64_t skip, int64_t take, uint8_t* out) {
  expand_bits(begin, end - begin, skip, take, out);
}

}  // namespace pistachio::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pistachio::kernels::cpu {

HWY_EXPORT(DecodeLevels);
HWY_EXPORT(DecodeBits);

LevelsOutcome decode_levels(const uint8_t* begin, const uint8_t* end, uint32_t max_level, int64_t skip, int64_t take, uint8_t* out) {
  return HWY_DYNAMIC_DISPATCH(DecodeLevels)(begin, end, max_level, skip, take, out);
}

void decode_bits(const uint8_t* begin, const uint8_t* end, int64_t skip, int64_t take, uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(DecodeBits)(begin, end, skip, take, out);
}

}  // namespace pistachio::kernels::cpu
#endif
