// Reference body of pack_words and unpack_words: one tensor operation per column.

#include <vector>

#include "kernels/ops/body_table.h"
#include "kernels/ops/hash64.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::composite {

namespace {

// int64 [n] or [n, 2]
at::Tensor words_of(const at::Tensor& values) {
  return values.is_floating_point() ? values.to(at::kDouble).view(at::kLong) : values.to(at::kLong);
}

at::Tensor turned_left(const at::Tensor& words, int64_t bits) {
  if (bits == 0) return words;
  const auto mask = static_cast<int64_t>((uint64_t{1} << bits) - 1);
  const at::Tensor low = words.bitwise_right_shift(64 - bits).bitwise_and(mask);
  return words.bitwise_left_shift(bits).bitwise_or(low);
}

// x ^ x >> 32
at::Tensor xor_folded(const at::Tensor& words) {
  return words.bitwise_xor(words.bitwise_right_shift(32).bitwise_and(0xffffffff));
}

// The integers that hash64 hashes so.
at::Tensor unhashed(const at::Tensor& hashes) {
  constexpr uint64_t hash_mixer = 0xd6e8feb86659fd93;
  uint64_t inverse = hash_mixer;  // correct in 3 bits; each step doubles them
  for (int i = 0; i < 5; ++i) inverse *= 2 - hash_mixer * inverse;
  const at::Tensor mixed = xor_folded(xor_folded(xor_folded(hashes).mul(static_cast<int64_t>(inverse))).mul(static_cast<int64_t>(inverse)));
  return mixed.sub(static_cast<int64_t>(0x9e3779b97f4a7c15));
}

std::tuple<at::Tensor, at::Tensor> pack_words(at::TensorList columns, int64_t keys, bool keep_key, int64_t turn, int64_t bits) {
  at::Tensor hashes = hash64(columns[0]);
  for (int64_t key = 1; key < keys; ++key) hashes = hash64_combine(hashes, hash64(columns[static_cast<size_t>(key)]));
  std::vector<at::Tensor> parts = {turned_left(hashes, turn).unsqueeze(1)};
  for (size_t i = keep_key ? 0 : 1; i < columns.size(); ++i) {
    const at::Tensor words = words_of(columns[i]);
    parts.push_back(words.dim() == 2 ? words : words.unsqueeze(1));
  }
  const at::Tensor rows = concatenate_tensors(parts, 1);
  const at::Tensor part = hashes.bitwise_and((int64_t{1} << bits) - 1);
  const at::Tensor counts = at::bincount(part, {}, int64_t{1} << bits);
  const at::Tensor offsets = concatenate_tensors({at::zeros({1}, at::kLong), counts.cumsum(0)});
  return {rows.index_select(0, part.argsort(/*stable=*/true, 0, false)), offsets};
}

std::vector<at::Tensor> unpack_words(at::TensorList pieces, at::IntArrayRef types, at::IntArrayRef words, bool keep_key, int64_t turn) {
  const at::Tensor rows = concatenate_tensors(pieces);
  std::vector<at::Tensor> columns;
  int64_t word = 1;
  for (size_t i = 0; i < types.size(); ++i) {
    const auto type = static_cast<at::ScalarType>(types[i]);
    if (i == 0 && !keep_key) {
      columns.push_back(unhashed(turned_left(rows.select(1, 0), (64 - turn) % 64)).to(type));
      continue;
    }
    const at::Tensor values = words[i] == 2 ? rows.narrow(1, word, 2).contiguous() : rows.select(1, word).contiguous();
    columns.push_back(at::isFloatingType(type) ? values.view(at::kDouble).to(type) : values.to(type));
    word += words[i];
  }
  return columns;
}

}  // namespace

REGISTER_BODY(Composite, "pack_words", pack_words);
REGISTER_BODY(Composite, "unpack_words", unpack_words);

}  // namespace pistachio::kernels::composite
