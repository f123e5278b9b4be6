// CPU bodies of the operations on key ranks. Words and orders that threads fill concurrently are written with relaxed atomics: the caller
// synchronizes before they are read.

#include <array>
#include <atomic>
#include <bit>
#include <type_traits>

#include "kernels/cpu/key_ranks_simd.h"
#include "kernels/cpu/value_kind_of.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

namespace {

// Ranks looked up at a time: they stay in L1.
constexpr int64_t strip_rows = 1024;

KeyRanks key_ranks_of(const at::Tensor& ranks, int64_t least) {
  return {reinterpret_cast<const uint64_t*>(ranks.const_data_ptr<int64_t>()), static_cast<uint64_t>(ranks.numel()) * 32,
          static_cast<uint64_t>(least)};
}

const bool* mask_of(const std::optional<at::Tensor>& validity) {
  return validity ? validity->const_data_ptr<bool>() : nullptr;
}

template <typename Run>
void with_integer_values(const at::Tensor& values, const Run& run) {
  with_type(value_kind_of(values), [&](auto type) {
    using T = decltype(type);
    if constexpr (std::is_integral_v<T>) run(static_cast<const T*>(values.const_data_ptr()));
  });
}

// Collects the bits of neighbouring rows that share a word, as sorted keys do: an atomic operation costs more than the rest.
class WordBits {
 public:
  explicit WordBits(uint64_t* words) : words_(words) {}
  ~WordBits() { flush(); }
  void set(uint64_t place) {
    if (place >> 6 != word_) {
      flush();
      word_ = place >> 6;
    }
    bits_ |= uint64_t{1} << (place & 63);
  }

 private:
  void flush() {
    if (bits_ != 0) std::atomic_ref<uint64_t>(words_[2 * word_]).fetch_or(bits_, std::memory_order_relaxed);
    bits_ = 0;
  }

  uint64_t* words_;
  uint64_t word_ = 0;
  uint64_t bits_ = 0;
};

void add_key_ranks(at::Tensor& ranks, const at::Tensor& values, const std::optional<at::Tensor>& validity, int64_t least) {
  const KeyRanks keys = key_ranks_of(ranks, least);
  const bool* mask = mask_of(validity);
  with_integer_values(values, [&](const auto* value) {
    WordBits bits(reinterpret_cast<uint64_t*>(ranks.mutable_data_ptr<int64_t>()));
    for (int64_t row = 0, rows = values.numel(); row < rows; ++row) {
      if (mask == nullptr || mask[row]) bits.set(keys.place_of(value[row]));
    }
  });
}

int64_t close_key_ranks(at::Tensor& ranks) {
  int64_t* words = ranks.mutable_data_ptr<int64_t>();
  int64_t values = 0;
  for (int64_t i = 0, size = ranks.numel(); i < size; i += 2) {
    words[i + 1] = values;
    values += std::popcount(static_cast<uint64_t>(words[i]));
  }
  return values;
}

at::Tensor find_key_ranks(const at::Tensor& ranks, const at::Tensor& values, const std::optional<at::Tensor>& validity, int64_t least) {
  if (ranks.numel() == 0) return at::full({values.numel()}, -1, at::kLong);
  at::Tensor found = at::empty({values.numel()}, at::kLong);
  look_up_ranks(key_ranks_of(ranks, least), value_kind_of(values), values.const_data_ptr(), mask_of(validity), 0, values.numel(),
                found.mutable_data_ptr<int64_t>());
  return found;
}

at::Tensor has_key_ranks(const at::Tensor& ranks, const at::Tensor& values, const std::optional<at::Tensor>& validity, int64_t least) {
  if (ranks.numel() == 0) return at::zeros({values.numel()}, at::kBool);
  at::Tensor has = at::empty({values.numel()}, at::kBool);
  bool* out = has.mutable_data_ptr<bool>();
  const KeyRanks keys = key_ranks_of(ranks, least);
  const bool* mask = mask_of(validity);
  with_integer_values(values, [&](const auto* value) {
    const int64_t rows = values.numel();
    for (int64_t row = 0; row < rows; ++row) {
      const uint64_t place = keys.place_of(value[row]);
      const bool is_inside = place < keys.values;
      const uint64_t inside = is_inside ? place : 0;
      out[row] = is_inside & static_cast<bool>(keys.words[2 * (inside >> 6)] >> (inside & 63) & 1);
    }
    if (mask == nullptr) return;
    for (int64_t row = 0; row < rows; ++row) out[row] = out[row] & mask[row];
  });
  return has;
}

bool place_by_rank(at::Tensor& order, const at::Tensor& ranks, const at::Tensor& values, const std::optional<at::Tensor>& validity,
                   int64_t least, int64_t first) {
  if (ranks.numel() == 0) return values.numel() == 0;
  const KeyRanks keys = key_ranks_of(ranks, least);
  int32_t* out = order.mutable_data_ptr<int32_t>();
  std::array<int64_t, strip_rows> found;
  bool is_in_order = true;
  for (int64_t begin = 0, rows = values.numel(); begin < rows; begin += strip_rows) {
    const int64_t end = std::min(rows, begin + strip_rows);
    look_up_ranks(keys, value_kind_of(values), values.const_data_ptr(), mask_of(validity), begin, end, found.data());
    for (int64_t row = begin; row < end; ++row) {
      const int64_t rank = found[static_cast<size_t>(row - begin)];
      is_in_order &= rank == first + row;
      if (rank >= 0) std::atomic_ref<int32_t>(out[rank]).store(static_cast<int32_t>(first + row), std::memory_order_relaxed);
    }
  }
  return is_in_order;
}

}  // namespace

REGISTER_BODY(Cpu, "add_key_ranks", add_key_ranks);
REGISTER_BODY(Cpu, "close_key_ranks", close_key_ranks);
REGISTER_BODY(Cpu, "find_key_ranks", find_key_ranks);
REGISTER_BODY(Cpu, "has_key_ranks", has_key_ranks);
REGISTER_BODY(Cpu, "place_by_rank", place_by_rank);

}  // namespace pistachio::kernels::cpu
