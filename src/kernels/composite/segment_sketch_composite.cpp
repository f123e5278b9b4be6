// Reference body of segment_sketch, sketch_merge and sketch_sums: stock ATen calls on any device.
#include "kernels/ops/body_table.h"
#include "kernels/ops/segment_sketch.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::composite {

namespace {

// 1 + the trailing zeros of each word. The lowest bit that is set, a power of two, is exact as a double; its exponent is the answer.
at::Tensor sketch_ranks(const at::Tensor& words) {
  const at::Tensor bounded = words.bitwise_or(int64_t{1} << (most_sketch_rank - 1));
  const at::Tensor lowest_bit = bounded.bitwise_and(bounded.neg());
  constexpr int64_t mantissa_bits = 52, exponent_bias = 1023;
  return lowest_bit.to(at::kDouble).view(at::kLong).bitwise_right_shift(mantissa_bits).sub(exponent_bias - 1);
}

void segment_sketch(at::Tensor& registers, const at::Tensor& ids, const at::Tensor& hashes) {
  if (ids.numel() == 0) return;
  const at::Tensor ranks = sketch_ranks(hashes.bitwise_right_shift(sketch_register_bits));
  const at::Tensor places = ids.mul(sketch_registers).add(hashes.bitwise_and(sketch_registers - 1));
  // Sorted by register and rank, the last row of a register has its greatest rank.
  constexpr int64_t rank_bits = 6;
  const at::Tensor sorted = std::get<0>(places.bitwise_left_shift(rank_bits).bitwise_or(ranks).sort());
  const at::Tensor place = sorted.bitwise_right_shift(rank_bits);
  at::Tensor is_last = at::ones({place.numel()}, place.options().dtype(at::kBool));
  is_last.narrow(0, 0, place.numel() - 1).copy_(place.slice(0, 1).ne(place.slice(0, 0, place.numel() - 1)));
  const at::Tensor greatest = sorted.masked_select(is_last).bitwise_and((1 << rank_bits) - 1).to(at::kByte);
  const at::Tensor targets = place.masked_select(is_last);
  at::Tensor flat = registers.view({-1});
  flat.index_copy_(0, targets, flat.index_select(0, targets).maximum(greatest));
}

// In rounds: each merges one row of every sketch that has rows left.
void sketch_merge(at::Tensor& registers, const at::Tensor& ids, const at::Tensor& others) {
  auto [left, rows] = ids.sort(/*stable=*/true, /*dim=*/0, /*descending=*/false);
  while (left.numel() > 0) {
    at::Tensor is_first = at::ones({left.numel()}, left.options().dtype(at::kBool));
    is_first.narrow(0, 1, left.numel() - 1).copy_(left.slice(0, 1).ne(left.slice(0, 0, left.numel() - 1)));
    const at::Tensor targets = left.masked_select(is_first);
    const at::Tensor incoming = others.index_select(0, rows.masked_select(is_first));
    registers.index_copy_(0, targets, registers.index_select(0, targets).maximum(incoming));
    const at::Tensor waits = is_first.logical_not();
    rows = rows.masked_select(waits);
    left = left.masked_select(waits);
  }
}

at::Tensor sketch_sums(const at::Tensor& registers) {
  // A block of sketches at a time: eight bytes for each register.
  constexpr int64_t block = 256;
  at::Tensor sums = at::zeros({registers.size(0), 2}, registers.options().dtype(at::kLong));
  for (int64_t begin = 0; begin < registers.size(0); begin += block) {
    const at::Tensor ranks = registers.slice(0, begin, begin + block).to(at::kLong);
    const at::Tensor is_zero = ranks.eq(0);
    const at::Tensor exponents = ranks.neg().add(most_sketch_rank).clamp_min(0);
    const at::Tensor weights = at::ones_like(ranks).bitwise_left_shift(exponents).masked_fill(is_zero, 0);
    sums.slice(0, begin, begin + block).copy_(at::stack({is_zero.sum(1), weights.sum(1)}, 1));
  }
  return sums;
}

}  // namespace

REGISTER_BODY(Composite, "segment_sketch", segment_sketch);
REGISTER_BODY(Composite, "sketch_merge", sketch_merge);
REGISTER_BODY(Composite, "sketch_sums", sketch_sums);

}  // namespace pistachio::kernels::composite
