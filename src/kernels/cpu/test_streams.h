// Encoders for the inputs of kernel tests and benchmarks: Parquet's run-length, delta, text and split-stream encodings, with choices that
// writers are free to make (run kinds, block sizes, padding) drawn at random. For tests only; simple and slow.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace pistachio::kernels::test_streams {

using Bytes = std::vector<uint8_t>;
using Random = std::mt19937_64;

inline int64_t uniform(Random& random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

inline void append_varint(Bytes& out, uint64_t value) {
  for (; value >= 128; value >>= 7) out.push_back(static_cast<uint8_t>(value | 128));
  out.push_back(static_cast<uint8_t>(value));
}

inline uint64_t zigzag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}

// Packs values of `width` bits, lowest bit first, padded with zeros to whole bytes.
inline void append_packed(Bytes& out, const std::vector<uint64_t>& values, int64_t width) {
  const size_t start = out.size();
  out.resize(start + (values.size() * static_cast<size_t>(width) + 7) / 8);
  for (size_t i = 0; i < values.size(); ++i) {
    for (int64_t bit = 0; bit < width; ++bit) {
      const size_t place = i * static_cast<size_t>(width) + static_cast<size_t>(bit);
      if ((values[i] >> bit) & 1) out[start + place / 8] |= static_cast<uint8_t>(1 << (place % 8));
    }
  }
}

// RLE/bit-packed hybrid. At least `min_repeat` equal values become a repeated run, which `cut` sometimes splits in two; the rest become
// bit-packed runs of at most `max_groups` groups of eight. `drop_padding` omits the last run's bytes without values.
struct RleOptions {
  int64_t min_repeat = 8;
  int64_t max_groups = 63;
  bool cut = false;
  bool drop_padding = false;
};

inline Bytes encode_rle(const std::vector<uint32_t>& values, int64_t width, Random& random, const RleOptions& options = {}) {
  Bytes out;
  size_t position = 0;
  const auto repeat_at = [&](size_t start) {
    size_t stop = start;
    while (stop < values.size() && values[stop] == values[start]) ++stop;
    return static_cast<int64_t>(stop - start);
  };
  while (position < values.size()) {
    int64_t repeat = repeat_at(position);
    if (repeat >= options.min_repeat) {
      if (options.cut) repeat = uniform(random, 1, repeat);
      append_varint(out, static_cast<uint64_t>(repeat) << 1);
      for (int64_t byte = 0; byte < (width + 7) / 8; ++byte) out.push_back(static_cast<uint8_t>(values[position] >> (8 * byte)));
      position += static_cast<size_t>(repeat);
      continue;
    }
    std::vector<uint64_t> packed;
    const int64_t groups = uniform(random, 1, options.max_groups);
    for (int64_t group = 0; group < groups && position < values.size(); ++group) {
      if (group > 0 && repeat_at(position) >= options.min_repeat) break;
      for (int i = 0; i < 8; ++i, ++position) packed.push_back(position < values.size() ? values[position] : 0);
    }
    const bool last = position > values.size();
    const size_t padding = last ? position - values.size() : 0;
    append_varint(out, (packed.size() / 8) << 1 | 1);
    if (options.drop_padding) packed.resize(packed.size() - padding);
    append_packed(out, packed, width);
  }
  return out;
}

// DELTA_BINARY_PACKED.
inline Bytes encode_delta(const std::vector<int64_t>& values, int64_t block_size, int64_t miniblocks, bool is_32_bit, Random& random) {
  Bytes out;
  append_varint(out, static_cast<uint64_t>(block_size));
  append_varint(out, static_cast<uint64_t>(miniblocks));
  append_varint(out, values.size());
  append_varint(out, zigzag(values.empty() ? 0 : values[0]));
  const auto difference = [&](size_t i) {
    const uint64_t delta = static_cast<uint64_t>(values[i]) - static_cast<uint64_t>(values[i - 1]);
    return is_32_bit ? static_cast<int64_t>(static_cast<int32_t>(static_cast<uint32_t>(delta))) : static_cast<int64_t>(delta);
  };
  const size_t block = static_cast<size_t>(block_size), mini = static_cast<size_t>(block_size / miniblocks);
  for (size_t start = 1; start < values.size(); start += block) {
    const size_t stop = std::min(values.size(), start + block);
    int64_t least = difference(start);
    for (size_t i = start; i < stop; ++i) least = std::min(least, difference(i));
    append_varint(out, zigzag(least));
    const size_t widths_at = out.size();
    for (int64_t i = 0; i < miniblocks; ++i) out.push_back(static_cast<uint8_t>(uniform(random, 0, 255)));  // readers ignore unused ones
    for (size_t m = 0; start + m * mini < stop; ++m) {
      std::vector<uint64_t> packed(mini, 0);
      uint64_t all = 0;
      for (size_t i = 0; i < mini && start + m * mini + i < stop; ++i) {
        packed[i] = static_cast<uint64_t>(difference(start + m * mini + i)) - static_cast<uint64_t>(least);
        if (is_32_bit) packed[i] &= 0xffffffff;
        all |= packed[i];
      }
      const int64_t width = all == 0 ? 0 : 64 - __builtin_clzll(all);
      out[widths_at + m] = static_cast<uint8_t>(width);
      append_packed(out, packed, width);
    }
  }
  return out;
}

// PLAIN BYTE_ARRAY.
inline Bytes encode_text(const std::vector<std::string>& values) {
  Bytes out;
  for (const std::string& value : values) {
    for (int byte = 0; byte < 4; ++byte) out.push_back(static_cast<uint8_t>(value.size() >> (8 * byte)));
    out.insert(out.end(), value.begin(), value.end());
  }
  return out;
}

}  // namespace pistachio::kernels::test_streams
