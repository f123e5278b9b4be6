// Hashing on the GPU: one row per thread and step. kernels/ops/hash64.h defines the functions.
#include "kernels/cuda/hash64_cuda.h"

#include <type_traits>

#include "kernels/cuda/row_loop.h"

namespace pistachio::kernels::cuda {

namespace {

constexpr uint64_t golden = 0x9e3779b97f4a7c15;
constexpr uint64_t mixer = 0xd6e8feb86659fd93;

__device__ uint64_t mix(uint64_t word) {
  word ^= word >> 32;
  word *= mixer;
  word ^= word >> 32;
  word *= mixer;
  return word ^ (word >> 32);
}

__device__ uint64_t combine(uint64_t first, uint64_t second) {
  return mix(first * golden + second);
}

template <typename T>
__device__ uint64_t hash_value(T value) {
  if constexpr (std::is_same_v<T, WideWords>) {
    const uint64_t one_word = mix(static_cast<uint64_t>(value.low) + golden);
    return value.high == value.low >> 63 ? one_word : combine(one_word, static_cast<uint64_t>(value.high));
  } else if constexpr (std::is_floating_point_v<T>) {
    const double number = static_cast<double>(value);
    uint64_t bits = static_cast<uint64_t>(__double_as_longlong(number));
    if (number == 0.0) bits = 0;  // normalizes -0.0
    if (number != number) bits = 0x7ff8000000000000;  // normalizes NaN
    return mix(bits + (golden + 1));
  } else {
    return mix(static_cast<uint64_t>(static_cast<int64_t>(value)) + golden);
  }
}

template <typename T>
struct HashOfValue {
  const T* values;
  __device__ uint64_t operator()(int64_t row) const { return hash_value(values[row]); }
};

struct HashOfPair {
  const uint64_t* first;
  const uint64_t* second;
  __device__ uint64_t operator()(int64_t row) const { return combine(first[row], second[row]); }
};

struct HashOfText {
  TextColumn column;
  __device__ uint64_t operator()(int64_t row) const {
    const TextSpan text = column[row];
    uint64_t hash = 0xa0761d6478bd642f;
    for (int64_t offset = 0; offset < text.length; offset += 16) {
      const uint64_t left = load_text_word(text, offset) ^ 0xe7037ed1a0b428db, right = load_text_word(text, offset + 8) ^ hash;
      hash = left * right ^ __umul64hi(left, right);
    }
    return mix(hash ^ static_cast<uint64_t>(text.length));
  }
};

}  // namespace

void hash_values(ValueKind kind, const void* values, int64_t rows, uint64_t* hashes, cudaStream_t stream) {
  with_type(kind, [&](auto type) {
    using T = decltype(type);
    map_rows(rows, hashes, HashOfValue<T>{static_cast<const T*>(values)}, stream);
  });
}

void hash_text(const TextColumn& text, int64_t rows, uint64_t* hashes, cudaStream_t stream) {
  map_rows(rows, hashes, HashOfText{text}, stream);
}

void hash_combine(const uint64_t* first, const uint64_t* second, int64_t rows, uint64_t* hashes, cudaStream_t stream) {
  map_rows(rows, hashes, HashOfPair{first, second}, stream);
}

}  // namespace pistachio::kernels::cuda
