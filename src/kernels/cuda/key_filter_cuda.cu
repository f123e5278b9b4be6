// Bloom filter on the GPU: one word per hash. Adding skips words whose bits are already set, which avoids contention on small filters.
#include "kernels/cuda/key_filter_cuda.h"

#include "kernels/cuda/row_loop.h"

namespace pistachio::kernels::cuda {

namespace {

using Word = unsigned long long;

__device__ Word bits_of_hash(uint64_t hash) {
  return Word{1} << (hash & 63) | Word{1} << (hash >> 6 & 63) | Word{1} << (hash >> 12 & 63);
}

struct AddHash {
  Word* words;
  int shift;
  const int64_t* hashes;
  __device__ void operator()(int64_t row) const {
    const auto hash = static_cast<uint64_t>(hashes[row]);
    Word* word = words + (hash >> shift);
    const Word bits = bits_of_hash(hash);
    if ((*static_cast<volatile Word*>(word) & bits) != bits) atomicOr(word, bits);
  }
};

struct TestHash {
  const Word* words;
  int shift;
  const int64_t* hashes;
  __device__ bool operator()(int64_t row) const {
    const auto hash = static_cast<uint64_t>(hashes[row]);
    const Word bits = bits_of_hash(hash);
    return (__ldg(words + (hash >> shift)) & bits) == bits;
  }
};

}  // namespace

void add_to_filter(int64_t* words, int size_bits, const int64_t* hashes, int64_t rows, cudaStream_t stream) {
  for_rows(rows, AddHash{reinterpret_cast<Word*>(words), 64 - size_bits, hashes}, stream);
}

void test_filter(const int64_t* words, int size_bits, const int64_t* hashes, int64_t rows, bool* out, cudaStream_t stream) {
  map_rows(rows, out, TestHash{reinterpret_cast<const Word*>(words), 64 - size_bits, hashes}, stream);
}

}  // namespace pistachio::kernels::cuda
