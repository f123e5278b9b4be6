// Unpacks bit-packed values of 1..32 bits, lowest bit first, to 32 bits, and tracks their maximum: that costs one instruction per vector
// and saves a second pass that checks codes against the size of a dictionary. Included once per instruction set by *_simd.cpp files (hence
// the toggled guard). Never reads past `readable` bytes: the last vectors use a masked load or a small padded copy.
//   AVX-512  16 values per step: load, permute each value's 16-bit words (or bytes, or two 32-bit words) into its lane, variable
//            shift, mask
//   AVX2     8 values per step, bytes permuted within two 16-byte halves; up to 25 bits
//   others   one 64-bit load, shift and mask per value
#if defined(PISTACHIO_BIT_UNPACK_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef PISTACHIO_BIT_UNPACK_INL_H
#undef PISTACHIO_BIT_UNPACK_INL_H
#else
#define PISTACHIO_BIT_UNPACK_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace pistachio::kernels::cpu::HWY_NAMESPACE {

// Value `index` of `width` bits; reads no byte at or after packed + readable.
HWY_INLINE uint64_t unpack_one(const uint8_t* packed, int64_t readable, int width, int64_t index) {
  const int64_t bit = index * width, byte = bit >> 3;
  const int shift = static_cast<int>(bit & 7);
  uint64_t word = 0;
  std::memcpy(&word, packed + byte, static_cast<size_t>(std::min<int64_t>(8, readable - byte)));
  word >>= shift;
  if (shift + width > 64) word |= static_cast<uint64_t>(packed[byte + 8]) << (64 - shift);
  return width == 64 ? word : word & ((uint64_t{1} << width) - 1);
}

#if HWY_TARGET <= HWY_AVX3

constexpr int by_words = 17;  // widest value that fits two 16-bit words at any shift
constexpr int by_bytes = HWY_TARGET <= HWY_AVX3_DL ? 25 : 0;

// Position of each of 16 values, per bit width. Tables, because a delta miniblock of 32 values is too short to amortize computing them.
struct UnpackControls {
  alignas(64) uint8_t index[64];  // 16-bit, 8-bit or 32-bit indices, see the constructor
  alignas(64) uint32_t shift[16];
};

struct UnpackTable {
  constexpr UnpackTable() : controls{} {
    for (int width = 1; width <= 32; ++width) {
      UnpackControls& control = controls[width];
      for (int i = 0; i < 16; ++i) {
        const int bit = i * width;
        if (width <= by_words) {
          control.index[4 * i] = static_cast<uint8_t>(bit / 16);
          control.index[4 * i + 2] = static_cast<uint8_t>((bit / 16 + 1) & 31);
          control.shift[i] = static_cast<uint32_t>(bit % 16);
        } else if (width <= by_bytes) {
          for (int j = 0; j < 4; ++j) control.index[4 * i + j] = static_cast<uint8_t>((bit / 8 + j) & 63);
          control.shift[i] = static_cast<uint32_t>(bit % 8);
        } else {
          control.index[4 * i] = static_cast<uint8_t>(bit / 32);
          control.shift[i] = static_cast<uint32_t>(bit % 32);
        }
      }
    }
  }
  UnpackControls controls[33];
};

inline constexpr UnpackTable unpack_table;

class BitUnpacker {
 public:
  explicit BitUnpacker(int width) : width_(width) {
    index_ = _mm512_load_si512(unpack_table.controls[width].index);
    shift_ = _mm512_load_si512(unpack_table.controls[width].shift);
    next_index_ = _mm512_and_si512(_mm512_add_epi32(index_, _mm512_set1_epi32(1)), _mm512_set1_epi32(15));
    mask_ = _mm512_set1_epi32(static_cast<int>(width == 32 ? ~uint32_t{0} : (uint32_t{1} << width) - 1));
    max_ = _mm512_setzero_si512();
  }

  // Unpacks the first `count` values of `packed`; `readable` bytes, at least as many as these values take, may be read.
  HWY_INLINE void unpack(const uint8_t* packed, int64_t readable, int64_t count, uint32_t* out) {
    if (width_ <= by_words) {
      unpack_by([this](__m512i loaded) HWY_ATTR { return _mm512_srlv_epi32(_mm512_permutexvar_epi16(index_, loaded), shift_); }, packed,
                readable, count, out);
#if HWY_TARGET <= HWY_AVX3_DL
    } else if (width_ <= by_bytes) {
      unpack_by([this](__m512i loaded) HWY_ATTR { return _mm512_srlv_epi32(_mm512_permutexvar_epi8(index_, loaded), shift_); }, packed,
                readable, count, out);
    } else {
      unpack_by(
          [this](__m512i loaded) HWY_ATTR {
            return _mm512_shrdv_epi32(_mm512_permutexvar_epi32(index_, loaded), _mm512_permutexvar_epi32(next_index_, loaded), shift_);
          },
          packed, readable, count, out);
    }
#else
    } else {
      const __m512i left = _mm512_sub_epi32(_mm512_set1_epi32(32), shift_);
      unpack_by(
          [this, left](__m512i loaded) HWY_ATTR {
            return _mm512_or_si512(_mm512_srlv_epi32(_mm512_permutexvar_epi32(index_, loaded), shift_),
                                   _mm512_sllv_epi32(_mm512_permutexvar_epi32(next_index_, loaded), left));
          },
          packed, readable, count, out);
    }
#endif
  }

  // The maximum of all values unpacked so far.
  uint32_t max() const { return _mm512_reduce_max_epu32(max_); }

 private:
  template <typename ToLanes>
  HWY_INLINE void unpack_by(const ToLanes& to_lanes, const uint8_t* packed, int64_t readable, int64_t count, uint32_t* out) {
    const int64_t step = 2 * width_;
    __m512i max = max_;
    int64_t done = 0;
    for (; count - done >= 16 && readable >= 64; done += 16, packed += step, readable -= step) {
      const __m512i values = _mm512_and_si512(to_lanes(_mm512_loadu_si512(packed)), mask_);
      max = _mm512_max_epu32(max, values);
      _mm512_storeu_si512(out + done, values);
    }
    for (; done < count; done += 16, packed += step, readable -= step) {
      const __mmask64 load_mask = readable >= 64 ? ~__mmask64{0} : (__mmask64{1} << readable) - 1;
      const __mmask16 store_mask = count - done >= 16 ? 0xffff : static_cast<__mmask16>((1 << (count - done)) - 1);
      const __m512i values = _mm512_and_si512(to_lanes(_mm512_maskz_loadu_epi8(load_mask, packed)), mask_);
      max = _mm512_mask_max_epu32(max, store_mask, max, values);
      _mm512_mask_storeu_epi32(out + done, store_mask, values);
    }
    max_ = max;
  }

  int width_;
  __m512i index_, next_index_, shift_, mask_, max_;
};

#else

class BitUnpacker {
 public:
  explicit BitUnpacker(int width) : width_(width) {
#if HWY_TARGET == HWY_AVX2
    alignas(32) uint8_t bytes[32];
    alignas(32) uint32_t shifts[8];
    for (int i = 0; i < 8; ++i) {
      const int bit = i * width - (i >= 4 ? half_byte() * 8 : 0);  // the upper half is loaded from half_byte()
      for (int j = 0; j < 4; ++j) bytes[4 * i + j] = static_cast<uint8_t>((bit / 8 + j) & 15);
      shifts[i] = static_cast<uint32_t>(bit % 8);
    }
    index_ = _mm256_load_si256(reinterpret_cast<const __m256i*>(bytes));
    shift_ = _mm256_load_si256(reinterpret_cast<const __m256i*>(shifts));
#endif
  }

  HWY_INLINE void unpack(const uint8_t* packed, int64_t readable, int64_t count, uint32_t* out) {
    int64_t done = 0;
#if HWY_TARGET == HWY_AVX2
    if (width_ <= 25) {
      const __m256i mask = _mm256_set1_epi32(static_cast<int>((uint32_t{1} << width_) - 1));
      __m256i max = _mm256_setzero_si256();
      for (; count - done >= 8 && readable >= half_byte() + 16; done += 8, packed += width_, readable -= width_) {
        const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(packed));
        const __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(packed + half_byte()));
        const __m256i loaded = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
        const __m256i values = _mm256_and_si256(_mm256_srlv_epi32(_mm256_shuffle_epi8(loaded, index_), shift_), mask);
        max = _mm256_max_epu32(max, values);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + done), values);
      }
      alignas(32) uint32_t lanes[8];
      _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), max);
      for (uint32_t lane : lanes) max_ = std::max(max_, lane);
    }
#endif
    uint32_t max = max_;
    const uint64_t value_mask = (uint64_t{1} << width_) - 1;
    int64_t bit = 0;
    for (; done < count && (bit >> 3) + 8 <= readable; ++done, bit += width_) {
      uint64_t word;
      std::memcpy(&word, packed + (bit >> 3), 8);
      out[done] = static_cast<uint32_t>((word >> (bit & 7)) & value_mask);
      max = std::max(max, out[done]);
    }
    for (int64_t index = bit / width_; done < count; ++done, ++index) {
      out[done] = static_cast<uint32_t>(unpack_one(packed, readable, width_, index));
      max = std::max(max, out[done]);
    }
    max_ = max;
  }

  uint32_t max() const { return max_; }

 private:
  int half_byte() const { return width_ / 2; }

  int width_;
  uint32_t max_ = 0;
#if HWY_TARGET == HWY_AVX2
  __m256i index_, shift_;
#endif
};

#endif

}  // namespace pistachio::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
