// Reference bodies of the operations on key ranks: scalar loops on the CPU, slow and simple, for tensors on any device. Words and orders on
// the CPU may be filled by several threads: each word is one atomic operation.
#include <atomic>

#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::composite {

namespace {

constexpr int64_t kBitsInWord = 64;

// Values on the CPU and the ranks to look them up in.
struct RankLookup {
  RankLookup(const at::Tensor& ranks, const at::Tensor& values, const std::optional<at::Tensor>& validity, int64_t least_value)
      : words(ranks.cpu()),
        numbers(values.to(at::kLong).cpu()),
        valid(validity ? validity->cpu() : at::ones({values.size(0)}, at::kBool)),
        word(words.const_data_ptr<int64_t>()),
        number(numbers.const_data_ptr<int64_t>()),
        is_valid(valid.const_data_ptr<bool>()),
        least(least_value) {}

  int64_t rows() const { return numbers.size(0); }
  // The bit of a row's value; -1 if it has none. Compares before it subtracts: the difference of a value outside may wrap.
  int64_t bit_of(int64_t row) const {
    if (!is_valid[row] || number[row] < least) return -1;
    const uint64_t bit = static_cast<uint64_t>(number[row]) - static_cast<uint64_t>(least);
    return bit < static_cast<uint64_t>(words.size(0) / 2 * kBitsInWord) ? static_cast<int64_t>(bit) : -1;
  }
  bool has(int64_t bit) const { return bit >= 0 && (static_cast<uint64_t>(word[bit / kBitsInWord * 2]) >> (bit % kBitsInWord) & 1) != 0; }
  int64_t rank_of(int64_t row) const {
    const int64_t bit = bit_of(row);
    if (!has(bit)) return -1;
    int64_t rank = word[bit / kBitsInWord * 2 + 1];
    for (int64_t smaller = bit / kBitsInWord * kBitsInWord; smaller < bit; ++smaller) rank += has(smaller);
    return rank;
  }

  at::Tensor words, numbers, valid;
  const int64_t* word;
  const int64_t* number;
  const bool* is_valid;
  int64_t least;
};

void add_key_ranks(at::Tensor& ranks, const at::Tensor& values, const std::optional<at::Tensor>& validity, int64_t least) {
  const RankLookup lookup(ranks, values, validity, least);
  at::Tensor words = lookup.words;  // `ranks` itself if that is on the CPU
  int64_t* out = words.mutable_data_ptr<int64_t>();
  for (int64_t row = 0; row < lookup.rows(); ++row) {
    const int64_t bit = lookup.bit_of(row);
    if (bit < 0) continue;
    std::atomic_ref(out[bit / kBitsInWord * 2]).fetch_or(static_cast<int64_t>(uint64_t{1} << (bit % kBitsInWord)));
  }
  if (!ranks.is_cpu()) ranks.copy_(words);
}

int64_t close_key_ranks(at::Tensor& ranks) {
  const at::Tensor words = ranks.view({-1, 2}), shifts = at::arange(kBitsInWord, ranks.options());
  const at::Tensor bits = words.select(1, 0).unsqueeze(1).bitwise_right_shift(shifts).bitwise_and(1).sum(1);
  const at::Tensor ends = bits.cumsum(0);
  words.select(1, 1).copy_(ends - bits);
  return ends.numel() == 0 ? 0 : ends[-1].item<int64_t>();
}

at::Tensor find_key_ranks(const at::Tensor& ranks, const at::Tensor& values, const std::optional<at::Tensor>& validity, int64_t least) {
  const RankLookup lookup(ranks, values, validity, least);
  at::Tensor found = at::empty({lookup.rows()}, at::kLong);
  int64_t* out = found.mutable_data_ptr<int64_t>();
  for (int64_t row = 0; row < lookup.rows(); ++row) out[row] = lookup.rank_of(row);
  return found.to(values.device());
}

at::Tensor has_key_ranks(const at::Tensor& ranks, const at::Tensor& values, const std::optional<at::Tensor>& validity, int64_t least) {
  const RankLookup lookup(ranks, values, validity, least);
  at::Tensor has = at::empty({lookup.rows()}, at::kBool);
  bool* out = has.mutable_data_ptr<bool>();
  for (int64_t row = 0; row < lookup.rows(); ++row) out[row] = lookup.has(lookup.bit_of(row));
  return has.to(values.device());
}

bool place_by_rank(at::Tensor& order, const at::Tensor& ranks, const at::Tensor& values, const std::optional<at::Tensor>& validity,
                   int64_t least, int64_t first) {
  const RankLookup lookup(ranks, values, validity, least);
  at::Tensor places = order.cpu();
  int32_t* out = places.mutable_data_ptr<int32_t>();
  bool is_in_order = true;
  for (int64_t row = 0; row < lookup.rows(); ++row) {
    const int64_t rank = lookup.rank_of(row);
    is_in_order = is_in_order && rank == first + row;
    if (rank >= 0) std::atomic_ref(out[rank]).store(static_cast<int32_t>(first + row));
  }
  if (!order.is_cpu()) order.copy_(places);
  return is_in_order;
}

}  // namespace

REGISTER_BODY(Composite, "add_key_ranks", add_key_ranks);
REGISTER_BODY(Composite, "close_key_ranks", close_key_ranks);
REGISTER_BODY(Composite, "find_key_ranks", find_key_ranks);
REGISTER_BODY(Composite, "has_key_ranks", has_key_ranks);
REGISTER_BODY(Composite, "place_by_rank", place_by_rank);

}  // namespace pistachio::kernels::composite
