// Entry point of combine_rows, combine_flush and turn_hashes.
#include "kernels/ops/combine_rows.h"

#include <ATen/core/Tensor.h>

#include "base/check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/relational_check.h"

namespace pistachio::kernels {

namespace {

void check_combine_table(const at::Tensor& table, int64_t width, const at::Tensor& other) {
  check_state(table, at::kLong, width, other);
  ENSURE(is_power_of_two(table.size(0)) && table.size(0) >= 2 && table.size(0) <= int64_t{1} << 32, "{} slots", table.size(0));
}

}  // namespace

std::tuple<at::Tensor, int64_t> combine_rows(at::Tensor& table, const at::Tensor& rows, int64_t key_words,
                                             const std::vector<MergeOp>& merges) {
  ENSURE(rows.defined());
  ENSURE(rows.scalar_type() == at::kLong, "rows are {}", c10::toString(rows.scalar_type()));
  ENSURE_EQ(rows.dim(), 2);
  ENSURE_GE(key_words, 0);
  int64_t width = 1 + key_words;
  std::vector<int64_t> codes;
  for (const MergeOp merge : merges) {
    codes.push_back(static_cast<int64_t>(merge));
    ENSURE(codes.back() >= 0 && codes.back() < merge_op_count, "merge {}", codes.back());
    width += merge_op_words(merge);
  }
  ENSURE_EQ(rows.size(1), width);
  check_combine_table(table, width, rows);
  static const Operation<std::tuple<at::Tensor, int64_t>(at::Tensor&, const at::Tensor&, int64_t, at::IntArrayRef)> operation(
      "combine_rows");
  return operation.on(rows)(table, rows.contiguous(), key_words, codes);
}

at::Tensor combine_flush(at::Tensor& table, int64_t begin, int64_t end, int64_t low_mask, int64_t value) {
  ENSURE(table.defined());
  ENSURE_EQ(table.dim(), 2);
  ENSURE_GE(table.size(1), 1);
  check_combine_table(table, table.size(1), table);
  ENSURE(0 <= begin && begin <= end && end <= table.size(0), "slots {} to {} of {}", begin, end, table.size(0));
  ENSURE(low_mask >= 0 && low_mask < int64_t{1} << 32 && (value & ~low_mask) == 0, "bits {} under the mask {}", value, low_mask);
  static const Operation<at::Tensor(at::Tensor&, int64_t, int64_t, int64_t, int64_t)> operation("combine_flush");
  return operation.on(table)(table, begin, end, low_mask, value);
}

at::Tensor combine_flush(at::Tensor& table) {
  ENSURE(table.defined() && table.dim() > 0);
  return combine_flush(table, 0, table.size(0));
}

void turn_hashes(at::Tensor& rows) {
  ENSURE(rows.defined() && rows.scalar_type() == at::kLong);
  ENSURE_EQ(rows.dim(), 2);
  ENSURE_GE(rows.size(1), 1);
  ENSURE(rows.is_contiguous());
  static const Operation<void(at::Tensor&)> operation("turn_hashes");
  operation.on(rows)(rows);
}

}  // namespace pistachio::kernels
