// Reference body of hash64, hash64_text and hash64_combine: stock ATen calls or scalar loops, slow and simple, on any device.

#include <algorithm>

#include "kernels/ops/argument_check.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::composite {

namespace {

constexpr uint64_t golden = 0x9e3779b97f4a7c15;
constexpr uint64_t mixer = 0xd6e8feb86659fd93;

at::Scalar scalar(uint64_t bits) {
  return at::Scalar(static_cast<int64_t>(bits));
}

// x ^ (x >> 32) with a logical shift: torch shifts int64 arithmetically.
at::Tensor fold_halves(const at::Tensor& words) {
  return words.bitwise_xor(words.bitwise_right_shift(32).bitwise_and(0xffffffff));
}

at::Tensor mix(const at::Tensor& words) {
  return fold_halves(fold_halves(fold_halves(words).mul(scalar(mixer))).mul(scalar(mixer)));
}

at::Tensor hash64_combine(const at::Tensor& first, const at::Tensor& second) {
  return mix(first.mul(scalar(golden)) + second);
}

at::Tensor hash64(const at::Tensor& values) {
  if (is_wide(values)) {
    const at::Tensor low = values.select(1, 0), high = values.select(1, 1);
    const at::Tensor one_word = mix(low + scalar(golden));
    return at::where(high.eq(low.bitwise_right_shift(63)), one_word, hash64_combine(one_word, high));
  }
  if (!values.is_floating_point()) return mix(values.to(at::kLong) + scalar(golden));
  at::Tensor numbers = values.to(at::kDouble, /*non_blocking=*/false, /*copy=*/true);
  numbers.masked_fill_(numbers.eq(0.0), 0.0);
  at::Tensor bits = numbers.view(at::kLong);
  bits.masked_fill_(numbers.isnan(), 0x7ff8000000000000);
  return mix(bits + scalar(golden + 1));
}

uint64_t fold_halves(uint64_t word) {
  return word ^ (word >> 32);
}

uint64_t hash_bytes(const uint8_t* data, int64_t length) {
  uint64_t hash = 0xa0761d6478bd642f;
  for (int64_t block = 0; block < length; block += 16) {
    uint64_t words[2] = {0, 0};
    for (int64_t i = block; i < std::min(length, block + 16); ++i) words[(i - block) / 8] |= uint64_t{data[i]} << (i % 8 * 8);
    const unsigned __int128 product = static_cast<unsigned __int128>(words[0] ^ 0xe7037ed1a0b428db) * (words[1] ^ hash);
    hash = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }
  return fold_halves(fold_halves(fold_halves(hash ^ static_cast<uint64_t>(length)) * mixer) * mixer);
}

at::Tensor hash64_text(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends) {
  const at::Tensor host_bytes = bytes.cpu(), host_begins = begins.cpu(), host_ends = ends.cpu();
  const uint8_t* data = host_bytes.const_data_ptr<uint8_t>();
  const int64_t* from = host_begins.const_data_ptr<int64_t>();
  const int64_t* to = host_ends.const_data_ptr<int64_t>();
  at::Tensor hashes = at::empty({begins.size(0)}, at::kLong);
  int64_t* out = hashes.mutable_data_ptr<int64_t>();
  for (int64_t i = 0; i < begins.size(0); ++i) out[i] = static_cast<int64_t>(hash_bytes(data + from[i], to[i] - from[i]));
  return hashes.to(bytes.device());
}

}  // namespace

REGISTER_BODY(Composite, "hash64", hash64);
REGISTER_BODY(Composite, "hash64_text", hash64_text);
REGISTER_BODY(Composite, "hash64_combine", hash64_combine);

}  // namespace pistachio::kernels::composite
