// Bitmaps of keys on the GPU: one key per thread and step.
#include "kernels/cuda/key_bitmap_cuda.h"

#include <type_traits>

#include "kernels/cuda/row_loop.h"

namespace pistachio::kernels::cuda {

namespace {

using Word = unsigned long long;

// Wraps for values below `least`, to far above every range.
template <typename T>
__device__ Word bit_place(T value, int64_t least) {
  return static_cast<Word>(static_cast<int64_t>(value)) - static_cast<Word>(least);
}

// Reads first: keys that occur often take few atomics.
template <typename T>
struct SetBit {
  Word* words;
  const T* values;
  int64_t least;
  __device__ void operator()(int64_t row) const {
    const Word place = bit_place(values[row], least), bit = Word{1} << (place & 63);
    Word* word = words + (place >> 6);
    if ((*static_cast<volatile Word*>(word) & bit) == 0) atomicOr(word, bit);
  }
};

template <typename T>
struct TestBit {
  const Word* words;
  Word limit;  // number of bits
  const T* values;
  int64_t least;
  __device__ bool operator()(int64_t row) const {
    const Word place = bit_place(values[row], least);
    return place < limit && (words[place >> 6] >> (place & 63) & 1) != 0;
  }
};

}  // namespace

void add_to_bitmap(ValueKind kind, int64_t* words, const void* values, int64_t rows, int64_t least, cudaStream_t stream) {
  with_type(kind, [&](auto type) {
    using T = decltype(type);
    if constexpr (std::is_integral_v<T>) {
      for_rows(rows, SetBit<T>{reinterpret_cast<Word*>(words), static_cast<const T*>(values), least}, stream);
    }
  });
}

void test_bitmap(ValueKind kind, const int64_t* words, int64_t word_count, const void* values, int64_t rows, int64_t least, bool* passes,
                 cudaStream_t stream) {
  with_type(kind, [&](auto type) {
    using T = decltype(type);
    if constexpr (std::is_integral_v<T>) {
      const TestBit<T> test{reinterpret_cast<const Word*>(words), static_cast<Word>(word_count) * 64, static_cast<const T*>(values), least};
      map_rows(rows, passes, test, stream);
    }
  });
}

}  // namespace pistachio::kernels::cuda
