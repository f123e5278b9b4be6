// Reference body of combine_rows, combine_flush and turn_hashes: scalar loops over host copies, slow and simple, on any device.

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/combine_rows.h"
#include "kernels/ops/int128.h"
#include "kernels/ops/merge_op.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::composite {

namespace {

bool is_less_in_sql(double left, double right) {
  if (std::isnan(left)) return false;
  return std::isnan(right) || left < right;
}

void merge_moments(int64_t* older, const int64_t* newer) {
  const double count = std::bit_cast<double>(newer[0]), older_count = std::bit_cast<double>(older[0]);
  if (count == 0 && older_count != 0) return;
  if (older_count == 0) {
    std::copy(newer, newer + 3, older);
    return;
  }
  const double total = older_count + count, mean = std::bit_cast<double>(older[1]), distance = std::bit_cast<double>(newer[1]) - mean;
  const double apart = distance * distance * (older_count * count / total);
  older[0] = std::bit_cast<int64_t>(total);
  older[1] = std::bit_cast<int64_t>(mean + distance * (count / total));
  older[2] = std::bit_cast<int64_t>(std::bit_cast<double>(older[2]) + (std::bit_cast<double>(newer[2]) + apart));
}

void merge_state(MergeOp op, int64_t* older, const int64_t* newer) {
  const double left = std::bit_cast<double>(*older), right = std::bit_cast<double>(*newer);
  switch (op) {
    case MergeOp::AddInt64:
      *older = static_cast<int64_t>(static_cast<uint64_t>(*older) + static_cast<uint64_t>(*newer));
      break;
    case MergeOp::AddInt128: {
      Int128 sum = 0;
      if (__builtin_add_overflow(int128_from_words(older[0], older[1]), int128_from_words(newer[0], newer[1]), &sum)) {
        throw UserError("sum is out of range");
      }
      older[0] = low_word(sum);
      older[1] = high_word(sum);
      break;
    }
    case MergeOp::AddDouble: *older = std::bit_cast<int64_t>(left + right); break;
    case MergeOp::MinInt64: *older = std::min(*older, *newer); break;
    case MergeOp::MaxInt64: *older = std::max(*older, *newer); break;
    case MergeOp::MinDouble:
      if (is_less_in_sql(right, left)) *older = *newer;
      break;
    case MergeOp::MaxDouble:
      if (is_less_in_sql(left, right)) *older = *newer;
      break;
    case MergeOp::And: *older &= *newer; break;
    case MergeOp::Or: *older |= *newer; break;
    case MergeOp::Xor: *older ^= *newer; break;
    case MergeOp::KeepFirst: break;
    case MergeOp::AddMoments: merge_moments(older, newer); break;
  }
}

// The bits of a hash that are the slot number.
int64_t slot_bits_mask(const at::Tensor& table) {
  return static_cast<int64_t>(~(~uint64_t{0} / static_cast<uint64_t>(table.size(0))));
}

std::tuple<at::Tensor, int64_t> combine_rows(at::Tensor& table, const at::Tensor& rows, int64_t key_words, at::IntArrayRef merges) {
  const at::Tensor host_table = table.cpu(), host_rows = rows.cpu();
  const int64_t width = rows.size(1), slot_mask = slot_bits_mask(table), shift = std::countr_zero(static_cast<uint64_t>(slot_mask));
  std::vector<int64_t> evicted;
  int64_t merged = 0;
  for (int64_t row = 0; row < rows.size(0); ++row) {
    const int64_t* newer = host_rows.const_data_ptr<int64_t>() + row * width;
    const int64_t slot = static_cast<int64_t>(static_cast<uint64_t>(newer[0]) >> shift), tag = newer[0] | slot_mask;
    int64_t* older = host_table.mutable_data_ptr<int64_t>() + slot * width;
    if (older[0] == tag && std::equal(older + 1, older + 1 + key_words, newer + 1)) {
      int64_t word = 1 + key_words;
      for (const int64_t merge : merges) {
        const MergeOp op = static_cast<MergeOp>(merge);
        merge_state(op, older + word, newer + word);
        word += merge_op_words(op);
      }
      ++merged;
      continue;
    }
    if (older[0] != 0) {
      evicted.push_back((older[0] & ~slot_mask) | (newer[0] & slot_mask));
      evicted.insert(evicted.end(), older + 1, older + width);
    }
    std::copy(newer, newer + width, older);
    older[0] = tag;
  }
  table.copy_(host_table);
  return {at::tensor(evicted, at::kLong).view({-1, width}).to(rows.device()), merged};
}

at::Tensor combine_flush(at::Tensor& table, int64_t begin, int64_t end, int64_t low_mask, int64_t value) {
  const int64_t slot_mask = slot_bits_mask(table), shift = std::countr_zero(static_cast<uint64_t>(slot_mask));
  const at::Tensor part = table.slice(0, begin, end);
  const at::Tensor tags = part.select(1, 0);
  const at::Tensor slots = tags.ne(0).logical_and_(tags.bitwise_and(low_mask).eq(value)).nonzero().view({-1});
  const at::Tensor rows = part.index_select(0, slots);
  rows.select(1, 0).bitwise_and_(~slot_mask).bitwise_or_(slots.add(begin).bitwise_left_shift(shift));
  part.select(1, 0).index_fill_(0, slots, 0);
  return rows;
}

void turn_hashes(at::Tensor& rows) {
  const at::Tensor hashes = rows.select(1, 0);
  const at::Tensor upper = hashes.bitwise_right_shift(32).bitwise_and((int64_t{1} << 32) - 1);
  hashes.copy_(hashes.bitwise_left_shift(32).bitwise_or_(upper));
}

}  // namespace

REGISTER_BODY(Composite, "combine_rows", combine_rows);
REGISTER_BODY(Composite, "combine_flush", combine_flush);
REGISTER_BODY(Composite, "turn_hashes", turn_hashes);

}  // namespace pistachio::kernels::composite
