#include "kernels/cpu/radix_sort.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "kernels/cpu/line_scatter.h"

namespace pistachio::kernels::cpu {

namespace {

// Below this, counting does not pay off.
constexpr int64_t few = 256;
// Cached outputs are scattered word by word to 256 positions, larger ones line by line to 2048.
constexpr int digit_bits_in_cache = 8, digit_bits_beyond = 11;

bool is_cached(int64_t count) {
  return count <= LineScatter::cached_words;
}

// The digits to sort by, lowest first.
struct Digits {
  Digits(int64_t count, int low_bit, int high_bit) : low(low_bit) {
    const int most_bits = is_cached(count) ? digit_bits_in_cache : digit_bits_beyond;
    passes = (high_bit - low_bit + most_bits - 1) / most_bits;
    bits = passes > 0 ? (high_bit - low_bit + passes - 1) / passes : 0;
  }
  size_t values() const { return size_t{1} << bits; }
  int shift(int pass) const { return low + pass * bits; }

  int low, bits, passes;
};

// Counts the digits of all passes in one scan. The number of passes is a constant so that the inner loop is unrolled.
template <int passes>
void count_passes(const uint64_t* numbers, int64_t count, Digits digits, uint32_t* counts) {
  const size_t values = digits.values();
  for (int64_t i = 0; i < count; ++i) {
    uint64_t key = numbers[i] >> digits.low;
    for (int pass = 0; pass < passes; ++pass, key >>= digits.bits) ++counts[static_cast<size_t>(pass) * values + (key & (values - 1))];
  }
}

std::vector<uint32_t> count_digits(const uint64_t* numbers, int64_t count, Digits digits) {
  std::vector<uint32_t> counts(static_cast<size_t>(digits.passes) * digits.values());
  switch (digits.passes) {
    case 0: break;
    case 1: count_passes<1>(numbers, count, digits, counts.data()); break;
    case 2: count_passes<2>(numbers, count, digits, counts.data()); break;
    case 3: count_passes<3>(numbers, count, digits, counts.data()); break;
    case 4: count_passes<4>(numbers, count, digits, counts.data()); break;
    case 5: count_passes<5>(numbers, count, digits, counts.data()); break;
    case 6: count_passes<6>(numbers, count, digits, counts.data()); break;
    case 7: count_passes<7>(numbers, count, digits, counts.data()); break;
    default: count_passes<8>(numbers, count, digits, counts.data());
  }
  return counts;
}

// Moves the numbers into the order of one digit.
void scatter(const uint64_t* from, uint64_t* to, int64_t count, int shift, size_t values, const uint32_t* counts, const StopCheck& stop) {
  std::vector<int64_t> places(values);
  std::exclusive_scan(counts, counts + values, places.begin(), int64_t{0});
  if (!is_cached(count)) {
    LineScatter lines(to, std::move(places));
    for_each_strip(count, stop, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) lines.put(from[i] >> shift & (values - 1), from[i]);
    });
    return lines.finish();
  }
  int64_t* next = places.data();
  for (int64_t i = 0; i < count; ++i) to[next[from[i] >> shift & (values - 1)]++] = from[i];
}

}  // namespace

void radix_sort(uint64_t* numbers, uint64_t* scratch, int64_t count, int low_bit, int high_bit, const StopCheck& stop) {
  // Counts have 32 bits to stay in cache; larger inputs do not occur in practice.
  if (count < few || count > std::numeric_limits<uint32_t>::max()) return std::sort(numbers, numbers + count);
  if (std::is_sorted(numbers, numbers + count)) return;
  const Digits digits(count, low_bit, high_bit);
  stop();
  const std::vector<uint32_t> counts = count_digits(numbers, count, digits);
  stop();
  uint64_t* from = numbers;
  uint64_t* to = scratch;
  for (int pass = 0; pass < digits.passes; ++pass) {
    const uint32_t* of_pass = counts.data() + static_cast<size_t>(pass) * digits.values();
    if (of_pass[from[0] >> digits.shift(pass) & (digits.values() - 1)] == count) continue;  // all numbers have the same digit
    scatter(from, to, count, digits.shift(pass), digits.values(), of_pass, stop);
    std::swap(from, to);
  }
  if (from != numbers) std::copy_n(from, count, numbers);
}

}  // namespace pistachio::kernels::cpu
