// Hashing. Loops over numbers are written for auto-vectorization (64-bit multiplies exist from AVX-512 on); text is a chain of 128-bit
// multiplies per value, which overlaps with the chain of the next value.
#include "kernels/cpu/hash64_simd.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "kernels/cpu/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/hash64_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pistachio::kernels::cpu::HWY_NAMESPACE {

constexpr uint64_t golden = 0x9e3779b97f4a7c15;
constexpr uint64_t mixer = 0xd6e8feb86659fd93;

HWY_INLINE uint64_t mix(uint64_t word) {
  word ^= word >> 32;
  word *= mixer;
  word ^= word >> 32;
  word *= mixer;
  return word ^ (word >> 32);
}

// The inverse modulo 2^64: correct in 3 bits at first, and in twice as many after each step.
constexpr uint64_t inverse_of(uint64_t odd) {
  uint64_t inverse = odd;
  for (int step = 0; step < 5; ++step) inverse *= 2 - odd * inverse;
  return inverse;
}

HWY_INLINE uint64_t unmix(uint64_t word) {
  constexpr uint64_t unmixer = inverse_of(mixer);
  word ^= word >> 32;
  word *= unmixer;
  word ^= word >> 32;
  word *= unmixer;
  return word ^ (word >> 32);
}

HWY_INLINE uint64_t combine(uint64_t first, uint64_t second) {
  return mix(first * golden + second);
}

// The bits of a double, with -0.0 and all NaNs normalized.
HWY_INLINE uint64_t canonical_bits(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, 8);
  bits = value == 0.0 ? 0 : bits;
  return value != value ? 0x7ff8000000000000 : bits;
}

void HashValues(ValueKind kind, const void* values, int64_t rows, uint64_t* HWY_RESTRICT out) {
  with_type(kind, [&](auto type) HWY_ATTR {
    using T = decltype(type);
    const T* HWY_RESTRICT typed = static_cast<const T*>(values);
    if constexpr (std::is_integral_v<T>) {
      for (int64_t row = 0; row < rows; ++row) out[row] = mix(static_cast<uint64_t>(static_cast<int64_t>(typed[row])) + golden);
    } else {
      for (int64_t row = 0; row < rows; ++row) out[row] = mix(canonical_bits(typed[row]) + (golden + 1));
    }
  });
}

void HashWide(const int64_t* HWY_RESTRICT values, int64_t rows, uint64_t* HWY_RESTRICT out) {
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t low = values[2 * row], high = values[2 * row + 1];
    const uint64_t one_word = mix(static_cast<uint64_t>(low) + golden);
    out[row] = high == low >> 63 ? one_word : combine(one_word, static_cast<uint64_t>(high));
  }
}

void UnhashIntegers(const uint64_t* hashes, int64_t rows, uint64_t* out) {
  for (int64_t row = 0; row < rows; ++row) out[row] = unmix(hashes[row]) - golden;
}

void HashCombine(const uint64_t* HWY_RESTRICT first, const uint64_t* HWY_RESTRICT second, int64_t rows, uint64_t* HWY_RESTRICT out) {
  for (int64_t row = 0; row < rows; ++row) out[row] = combine(first[row], second[row]);
}

HWY_INLINE uint64_t fold_multiply(uint64_t left, uint64_t right) {
  const unsigned __int128 product = static_cast<unsigned __int128>(left) * right;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// Loading 32 bytes from `tail_masks + 32 - n` yields n bytes of ones, then zeros.
constexpr uint64_t tail_masks[8] = {~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}, 0, 0, 0, 0};

// Hashes `length` bytes; `readable` bytes may be read. The last 32 bytes, for most values all of them, are hashed without a branch on the
// length: a misprediction would cost more than the second multiplication.
HWY_INLINE uint64_t hash_bytes(const uint8_t* data, int64_t length, int64_t readable) {
  constexpr uint64_t first_key = 0xe7037ed1a0b428db;
  uint64_t hash = 0xa0761d6478bd642f;
  uint64_t words[4] = {0, 0, 0, 0};
  int64_t left = length;
  for (; left > 32; left -= 16, data += 16, readable -= 16) {
    std::memcpy(words, data, 16);
    hash = fold_multiply(words[0] ^ first_key, words[1] ^ hash);
  }
  if (readable >= 32) [[likely]] {
    uint64_t masks[4];
    std::memcpy(words, data, 32);
    std::memcpy(masks, reinterpret_cast<const uint8_t*>(tail_masks) + 32 - left, 32);
    for (int i = 0; i < 4; ++i) words[i] &= masks[i];
  } else {
    words[0] = words[1] = 0;
    if (left > 0) std::memcpy(words, data, static_cast<size_t>(left));
  }
  const uint64_t one_block = fold_multiply(words[0] ^ first_key, words[1] ^ hash);
  const uint64_t two_blocks = fold_multiply(words[2] ^ first_key, words[3] ^ one_block);
  hash = left > 0 ? one_block : hash;
  hash = left > 16 ? two_blocks : hash;
  return mix(hash ^ static_cast<uint64_t>(length));
}

void HashText(const uint8_t* data, int64_t size, const int64_t* HWY_RESTRICT begins, const int64_t* HWY_RESTRICT ends, int64_t rows,
              uint64_t* HWY_RESTRICT out) {
  // Rows that a join or a selection has gathered have their bytes anywhere.
  constexpr int64_t fetch_distance = 16;
  for (int64_t row = 0; row < rows; ++row) {
    if (row + fetch_distance < rows) __builtin_prefetch(data + begins[row + fetch_distance]);
    out[row] = hash_bytes(data + begins[row], ends[row] - begins[row], size - begins[row]);
  }
}

}  // namespace pistachio::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pistachio::kernels::cpu {

HWY_EXPORT(HashValues);
HWY_EXPORT(HashWide);
HWY_EXPORT(UnhashIntegers);
HWY_EXPORT(HashCombine);
HWY_EXPORT(HashText);

void hash_values(ValueKind kind, const void* values, int64_t rows, uint64_t* out) {
  HWY_DYNAMIC_DISPATCH(HashValues)(kind, values, rows, out);
}
void hash_wide(const int64_t* values, int64_t rows, uint64_t* out) {
  HWY_DYNAMIC_DISPATCH(HashWide)(values, rows, out);
}
void unhash_integers(const uint64_t* hashes, int64_t rows, uint64_t* out) {
  HWY_DYNAMIC_DISPATCH(UnhashIntegers)(hashes, rows, out);
}
void hash_combine(const uint64_t* first, const uint64_t* second, int64_t rows, uint64_t* out) {
  HWY_DYNAMIC_DISPATCH(HashCombine)(first, second, rows, out);
}
void hash_text(const uint8_t* data, int64_t size, const int64_t* begins, const int64_t* ends, int64_t rows, uint64_t* out) {
  HWY_DYNAMIC_DISPATCH(HashText)(data, size, begins, ends, rows, out);
}

}  // namespace pistachio::kernels::cpu
#endif
