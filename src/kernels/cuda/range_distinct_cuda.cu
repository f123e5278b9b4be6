// Distinct values in ranges of rows on the GPU: the rows of a range whose value has no earlier row in it. Each row is numbered with its
// value's previous row plus one, or 0 if there is none, and a range counts its rows whose number is at most its begin. A wavelet matrix
// does that: one level per bit of the numbers, the highest first, with one bit per row. On each level rows are stably partitioned by the
// bit of the level above, zeros first. A count reads two ranks per level, whatever the neighbouring ranges are. The matrix takes a quarter
// of a byte per row and level.
#include "kernels/cuda/range_distinct_cuda.h"

#include <utility>

#include "kernels/cuda/row_loop.h"
#include "kernels/cuda/sorted_keys.h"

namespace pistachio::kernels::cuda {

namespace {

constexpr uint32_t word_rows = 32;

struct alignas(8) BitWord {
  uint32_t bits;
  uint32_t before;  // ones in the words of the level before this one
};

__device__ uint32_t ones_before(const BitWord* level, uint32_t place) {
  const BitWord word = level[place / word_rows];
  return word.before + static_cast<uint32_t>(__popc(word.bits & ((1U << place % word_rows) - 1)));
}

// NULLs sort behind all ids.
template <typename Key>
struct KeyOfRow {
  const int64_t* ids;
  const bool* valid;
  Key behind;
  __device__ Key operator()(int64_t row) const { return valid != nullptr && !valid[row] ? behind : static_cast<Key>(ids[row]); }
};

// NULLs get a number that no range counts.
template <typename Key>
struct NumberRow {
  const Key* sorted_keys;
  const int64_t* order;
  Key behind;
  uint32_t rows;
  uint32_t* numbers;
  __device__ void operator()(int64_t place) const {
    const Key key = sorted_keys[place];
    const bool is_first = place == 0 || sorted_keys[place - 1] != key;
    const uint32_t number = is_first ? 0 : static_cast<uint32_t>(order[place - 1]) + 1;
    numbers[order[place]] = key == behind ? rows : number;
  }
};

struct PackBits {
  const uint32_t* numbers;
  uint32_t rows;
  int bit;
  uint32_t* packed;
  int64_t* ones;
  __device__ void operator()(int64_t word) const {
    const auto first = static_cast<uint32_t>(word) * word_rows;
    const uint32_t in_word = min(rows - first, word_rows);
    uint32_t bits = 0;
    for (uint32_t i = 0; i < in_word; ++i) bits |= (numbers[first + i] >> bit & 1) << i;
    packed[word] = bits;
    ones[word] = __popc(bits);
  }
};

struct MakeWord {
  const uint32_t* packed;
  const int64_t* before;
  __device__ BitWord operator()(int64_t word) const { return {packed[word], static_cast<uint32_t>(before[word])}; }
};

// To the order of the level below.
struct MoveNumber {
  const BitWord* level;
  const uint32_t* numbers;
  uint32_t rows;
  int bit;
  uint32_t* moved;
  __device__ void operator()(int64_t row) const {
    const auto place = static_cast<uint32_t>(row);
    const uint32_t number = numbers[place], ones = ones_before(level, place);
    const uint32_t zeros = rows - ones_before(level, rows);
    moved[(number >> bit & 1) != 0 ? zeros + ones : place - ones] = number;
  }
};

struct DistinctOfRange {
  const BitWord* levels;  // the highest bit first
  int64_t level_words;
  int bits;
  uint32_t rows;
  const int64_t* begins;
  const int64_t* ends;
  __device__ int64_t operator()(int64_t range) const {
    if (begins[range] >= ends[range]) return 0;
    auto begin = static_cast<uint32_t>(begins[range]), end = static_cast<uint32_t>(ends[range]);
    const uint32_t limit = begin + 1;
    uint32_t counted = 0;
    const BitWord* level = levels;
    for (int bit = bits - 1; bit >= 0 && begin < end; --bit, level += level_words) {
      const uint32_t ones_at_begin = ones_before(level, begin), ones_at_end = ones_before(level, end);
      if ((limit >> bit & 1) != 0) {
        // Numbers with bit 0 are below the limit.
        counted += end - begin - (ones_at_end - ones_at_begin);
        const uint32_t zeros = rows - ones_before(level, rows);
        begin = zeros + ones_at_begin;
        end = zeros + ones_at_end;
      } else {
        begin -= ones_at_begin;
        end -= ones_at_end;
      }
    }
    return counted;
  }
};

template <typename Key>
void number_rows(const int64_t* ids, const bool* valid, int64_t rows, int64_t values, uint32_t* numbers, ScratchMemory& scratch,
                 cudaStream_t stream) {
  const auto behind = static_cast<Key>(values);
  auto* keys = scratch.take<Key>(rows);
  auto* sorted_keys = scratch.take<Key>(rows);
  auto* row_numbers = scratch.take<int64_t>(rows);
  auto* order = scratch.take<int64_t>(rows);
  map_rows(rows, keys, KeyOfRow<Key>{ids, valid, behind}, stream);
  fill_row_numbers(row_numbers, rows, stream);
  sort_pairs(keys, sorted_keys, row_numbers, order, rows, 0, bits_of(static_cast<uint64_t>(values)), scratch, stream);
  for_rows(rows, NumberRow<Key>{sorted_keys, order, behind, static_cast<uint32_t>(rows), numbers}, stream);
}

}  // namespace

void count_distinct(const int64_t* ids, const bool* valid, int64_t rows, int64_t values, const int64_t* begins, const int64_t* ends,
                    int64_t count, int64_t* out, ScratchMemory& scratch, cudaStream_t stream) {
  if (count == 0) return;
  const int bits = bits_of(static_cast<uint64_t>(rows));
  const int64_t level_words = rows / word_rows + 1;
  auto* levels = scratch.take<BitWord>(bits * level_words);
  auto* packed = scratch.take<uint32_t>(level_words);
  auto* ones = scratch.take<int64_t>(level_words);
  auto* numbers = scratch.take<uint32_t>(rows);
  auto* moved = scratch.take<uint32_t>(rows);
  {
    ScratchMemory sorting;
    if (values <= int64_t{UINT32_MAX}) {
      number_rows<uint32_t>(ids, valid, rows, values, numbers, sorting, stream);
    } else {
      number_rows<uint64_t>(ids, valid, rows, values, numbers, sorting, stream);
    }
  }
  const auto numbered = static_cast<uint32_t>(rows);
  BitWord* level = levels;
  for (int bit = bits - 1; bit >= 0; --bit, level += level_words) {
    for_rows(level_words, PackBits{numbers, numbered, bit, packed, ones}, stream);
    sum_exclusive(ones, level_words, scratch, stream);
    map_rows(level_words, level, MakeWord{packed, ones}, stream);
    if (bit == 0) break;
    for_rows(rows, MoveNumber{level, numbers, numbered, bit, moved}, stream);
    std::swap(numbers, moved);
  }
  map_rows(count, out, DistinctOfRange{levels, level_words, bits, numbered, begins, ends}, stream);
}

}  // namespace pistachio::kernels::cuda
