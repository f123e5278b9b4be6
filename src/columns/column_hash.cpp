#include "columns/column_hash.h"

#include <ATen/ATen.h>

#include "base/check.h"
#include "columns/order_words.h"
#include "kernels/ops/dictionary_gather.h"
#include "kernels/ops/hash64.h"

namespace pistachio {

namespace {

// Arbitrary: collisions with hashes of values are resolved when keys are compared.
constexpr int64_t kNullHash = 0x5bf03635d4a1c4bd;

at::Tensor hash_values(const Column& column) {
  if (column.type().is_text()) return kernels::hash64_text(column.bytes(), column.begins(), column.ends());
  // Intervals are equal if they have the same length, whatever their fields: 1 month, 30 days.
  if (column.type().kind() == TypeKind::Interval) return kernels::hash64(interval_lengths(column.values()));
  return kernels::hash64(column.values());
}

at::Tensor hash_column(const Column& column) {
  at::Tensor hashes =
      column.is_dictionary() ? kernels::dictionary_gather(hash_values(*column.dictionary_column()), column.codes()) : hash_values(column);
  return column.has_validity() ? hashes.masked_fill(column.validity().logical_not(), kNullHash) : hashes;
}

}  // namespace

at::Tensor hash_rows(const std::vector<Column>& keys) {
  ENSURE(!keys.empty());
  at::Tensor hashes = hash_column(keys[0]);
  for (size_t i = 1; i < keys.size(); ++i) hashes = kernels::hash64_combine(hashes, hash_column(keys[i]));
  return hashes;
}

bool hash_is_exact(LogicalType type) {
  return !type.is_text() && !type.is_wide() && !type.is_floating();
}

}  // namespace pistachio
