// CPU bodies of pack_words and unpack_words. Rows are converted in blocks that stay in L1 while their columns are visited one by one.

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "kernels/cpu/hash64_simd.h"
#include "kernels/cpu/value_kind_of.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

namespace {

constexpr int64_t pack_block_rows = 512;

bool has_two_words(const at::Tensor& column) {
  return column.dim() == 2;
}

template <typename T>
uint64_t word_of(T value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<uint64_t>(static_cast<int64_t>(value));
  } else {
    return std::bit_cast<uint64_t>(static_cast<double>(value));
  }
}

template <typename T>
T value_of(uint64_t word) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(word);
  } else {
    return static_cast<T>(std::bit_cast<double>(word));
  }
}

const void* value_at(const at::Tensor& column, int64_t row) {
  const auto stride = static_cast<int64_t>(column.element_size()) * (has_two_words(column) ? 2 : 1);
  return static_cast<const uint8_t*>(column.const_data_ptr()) + row * stride;
}

void hash_column(const at::Tensor& column, int64_t begin, int64_t count, uint64_t* out) {
  if (has_two_words(column)) {
    hash_wide(static_cast<const int64_t*>(value_at(column, begin)), count, out);
  } else {
    hash_values(value_kind_of(column), value_at(column, begin), count, out);
  }
}

void hash_keys(at::TensorList columns, int64_t keys, int64_t begin, int64_t count, uint64_t* out) {
  uint64_t next[pack_block_rows];
  hash_column(columns[0], begin, count, out);
  for (int64_t key = 1; key < keys; ++key) {
    hash_column(columns[static_cast<size_t>(key)], begin, count, next);
    hash_combine(out, next, count, out);
  }
}

// Stores the words of `count` values of a column; place(i) is the address of the word of value i.
template <typename Place>
void store_words(const at::Tensor& column, int64_t begin, int64_t count, const Place& place) {
  if (has_two_words(column)) {
    const auto* words = static_cast<const uint64_t*>(value_at(column, begin));
    for (int64_t i = 0; i < count; ++i) {
      uint64_t* out = place(i);
      out[0] = words[2 * i];
      out[1] = words[2 * i + 1];
    }
    return;
  }
  with_type(value_kind_of(column), [&](auto type) {
    using T = decltype(type);
    const T* values = static_cast<const T*>(value_at(column, begin));
    for (int64_t i = 0; i < count; ++i) *place(i) = word_of(values[i]);
  });
}

// The words of all columns but the key's, if it is left out, of the rows [begin, begin + count); place(i) is the address of row i.
template <typename Place>
void store_rows(at::TensorList columns, bool keep_key, int64_t begin, int64_t count, const Place& place) {
  int64_t word = 1;
  for (size_t i = keep_key ? 0 : 1; i < columns.size(); ++i) {
    store_words(columns[i], begin, count, [&](int64_t row) { return place(row) + word; });
    word += has_two_words(columns[i]) ? 2 : 1;
  }
}

// Calls body(begin, count) for each block.
template <typename Body>
void for_each_block(int64_t rows, const Body& body) {
  for (int64_t begin = 0; begin < rows; begin += pack_block_rows) body(begin, std::min(pack_block_rows, rows - begin));
}

std::tuple<at::Tensor, at::Tensor> pack_words(at::TensorList columns, int64_t keys, bool keep_key, int64_t turn, int64_t bits) {
  const int64_t count = columns[0].size(0), parts = int64_t{1} << bits;
  int64_t width = 1;
  for (size_t i = keep_key ? 0 : 1; i < columns.size(); ++i) width += has_two_words(columns[i]) ? 2 : 1;
  at::Tensor rows = at::empty({count, width}, at::kLong), offsets = at::empty({parts + 1}, at::kLong);
  uint64_t* out = reinterpret_cast<uint64_t*>(rows.mutable_data_ptr<int64_t>());
  int64_t* bounds = offsets.mutable_data_ptr<int64_t>();
  const auto turned = [turn](uint64_t hash) { return std::rotl(hash, static_cast<int>(turn)); };
  if (bits == 0) {
    for_each_block(count, [&](int64_t begin, int64_t size) {
      uint64_t hashes[pack_block_rows];
      hash_keys(columns, keys, begin, size, hashes);
      uint64_t* block = out + begin * width;
      for (int64_t i = 0; i < size; ++i) block[i * width] = turned(hashes[i]);
      store_rows(columns, keep_key, begin, size, [=](int64_t row) { return block + row * width; });
    });
    bounds[0] = 0;
    bounds[1] = count;
    return {rows, offsets};
  }
  const uint64_t part_mask = static_cast<uint64_t>(parts) - 1;
  at::Tensor hash_buffer = at::empty({count}, at::kLong);
  uint64_t* hashes = reinterpret_cast<uint64_t*>(hash_buffer.mutable_data_ptr<int64_t>());
  std::vector<int64_t> places(static_cast<size_t>(parts));
  for_each_block(count, [&](int64_t begin, int64_t size) {
    hash_keys(columns, keys, begin, size, hashes + begin);
    for (int64_t i = begin; i < begin + size; ++i) ++places[hashes[i] & part_mask];
  });
  std::exclusive_scan(places.begin(), places.end(), places.begin(), int64_t{0});
  std::copy(places.begin(), places.end(), bounds);
  bounds[parts] = count;
  for_each_block(count, [&](int64_t begin, int64_t size) {
    uint64_t* place[pack_block_rows];
    for (int64_t i = 0; i < size; ++i) {
      const uint64_t hash = hashes[begin + i];
      place[i] = out + places[hash & part_mask]++ * width;
      *place[i] = turned(hash);
    }
    store_rows(columns, keep_key, begin, size, [&](int64_t row) { return place[row]; });
  });
  return {rows, offsets};
}

// Writes the values of one column; `word` is its first word in the rows.
void load_values(const uint64_t* rows, int64_t count, int64_t width, at::Tensor& column, int64_t begin) {
  void* out = const_cast<void*>(value_at(column, begin));
  if (has_two_words(column)) {
    uint64_t* words = static_cast<uint64_t*>(out);
    for (int64_t i = 0; i < count; ++i) {
      words[2 * i] = rows[i * width];
      words[2 * i + 1] = rows[i * width + 1];
    }
    return;
  }
  with_type(value_kind_of(column), [&](auto type) {
    using T = decltype(type);
    T* values = static_cast<T*>(out);
    for (int64_t i = 0; i < count; ++i) values[i] = value_of<T>(rows[i * width]);
  });
}

std::vector<at::Tensor> unpack_words(at::TensorList pieces, at::IntArrayRef types, at::IntArrayRef words, bool keep_key, int64_t turn) {
  int64_t count = 0;
  for (const at::Tensor& piece : pieces) count += piece.size(0);
  std::vector<at::Tensor> columns;
  for (size_t i = 0; i < types.size(); ++i) {
    const auto type = static_cast<at::ScalarType>(types[i]);
    columns.push_back(words[i] == 2 ? at::empty({count, 2}, type) : at::empty({count}, type));
  }
  int64_t done = 0;
  for (const at::Tensor& piece : pieces) {
    const int64_t width = piece.size(1);
    const uint64_t* rows = reinterpret_cast<const uint64_t*>(piece.const_data_ptr<int64_t>());
    for_each_block(piece.size(0), [&](int64_t begin, int64_t size) {
      const uint64_t* block = rows + begin * width;
      int64_t word = 1;
      for (size_t i = 0; i < columns.size(); ++i) {
        if (i == 0 && !keep_key) {
          uint64_t values[pack_block_rows];
          for (int64_t row = 0; row < size; ++row) values[row] = std::rotr(block[row * width], static_cast<int>(turn));
          unhash_integers(values, size, values);
          load_values(values, size, 1, columns[0], done + begin);
          continue;
        }
        load_values(block + word, size, width, columns[i], done + begin);
        word += words[i];
      }
    });
    done += piece.size(0);
  }
  return columns;
}

}  // namespace

REGISTER_BODY(Cpu, "pack_words", pack_words);
REGISTER_BODY(Cpu, "unpack_words", unpack_words);

}  // namespace pistachio::kernels::cpu
