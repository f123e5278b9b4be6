// Reference body of combine_rows and combine_flush: a scalar loop over host copies, slow and simple, on any device.
#include <torch/library.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "kernels/ops/int128.h"
#include "kernels/ops/merge_op.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::composite {

namespace {

bool is_less_in_sql(double left, double right) {
  if (std::isnan(left)) return false;
  return std::isnan(right) || left < right;
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
  }
}

std::tuple<at::Tensor, int64_t> combine_rows(at::Tensor& table, const at::Tensor& rows, int64_t key_words, at::IntArrayRef merges) {
  const at::Tensor host_table = table.cpu(), host_rows = rows.cpu();
  const int64_t width = rows.size(1), slot_mask = table.size(0) - 1;
  std::vector<int64_t> evicted;
  int64_t merged = 0;
  for (int64_t row = 0; row < rows.size(0); ++row) {
    const int64_t* newer = host_rows.const_data_ptr<int64_t>() + row * width;
    const int64_t slot = newer[0] & slot_mask, tag = newer[0] | slot_mask;
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
      evicted.push_back((older[0] & ~slot_mask) | slot);
      evicted.insert(evicted.end(), older + 1, older + width);
    }
    std::copy(newer, newer + width, older);
    older[0] = tag;
  }
  table.copy_(host_table);
  return {at::tensor(evicted, at::kLong).view({-1, width}).to(rows.device()), merged};
}

at::Tensor combine_flush(at::Tensor& table) {
  const int64_t slot_mask = table.size(0) - 1;
  const at::Tensor slots = table.select(1, 0).ne(0).nonzero().view({-1});
  const at::Tensor rows = table.index_select(0, slots);
  rows.select(1, 0).bitwise_and_(~slot_mask).bitwise_or_(slots);
  table.zero_();
  return rows;
}

}  // namespace

TORCH_LIBRARY_IMPL(pistachio, CompositeExplicitAutograd, library) {
  library.impl("combine_rows", TORCH_FN(combine_rows));
  library.impl("combine_flush", TORCH_FN(combine_flush));
}

}  // namespace pistachio::kernels::composite
