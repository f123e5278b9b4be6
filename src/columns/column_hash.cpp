#include "columns/column_hash.h"

#include <algorithm>

#include "base/check.h"
#include "columns/decode_dictionary.h"
#include "columns/order_words.h"
#include "kernels/ops/dictionary_gather.h"
#include "kernels/ops/hash64.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

// Arbitrary: collisions with hashes of values are resolved when keys are compared.
constexpr int64_t kNullHash = 0x5bf03635d4a1c4bd;
// Rows hashed between two polls of the token.
constexpr int64_t kRowsPerPoll = 1 << 21;

at::Tensor hash_values(const Column& column) {
  if (column.type().is_text()) return kernels::hash64_text(column.bytes(), column.begins(), column.ends());
  // Intervals are equal if they have the same length, whatever their fields: 1 month, 30 days.
  if (column.type().kind() == TypeKind::Interval) return kernels::hash64(interval_lengths(column.values()));
  return kernels::hash64(column.values());
}

// Hashes the entries once for all chunks of the dictionary, and rows instead until there were half as many of them as entries. On a GPU each lane has
// a stream of its own, and none may use what another one is still computing.
at::Tensor hash_coded(const Column& column) {
  const Column& entries = *column.dictionary_column();
  if (!column.device().is_cpu()) return kernels::dictionary_gather(hash_values(entries), column.codes());
  EntryHashes& known = entries.entry_hashes();
  at::Tensor hashes = known.get();
  if (!hashes.defined()) {
    const bool pays = known.add_rows(column.rows()) >= entries.rows() / 2;
    if (!pays) return hash_values(decode_dictionary(column));
    hashes = hash_values(entries);
    known.set(hashes);
  }
  return kernels::dictionary_gather(hashes, column.codes());
}

at::Tensor hash_column(const Column& column) {
  at::Tensor hashes = column.is_dictionary() ? hash_coded(column) : hash_values(column);
  return column.has_validity() ? hashes.masked_fill(column.validity().logical_not(), kNullHash) : hashes;
}

at::Tensor hash_strip(const std::vector<Column>& keys) {
  at::Tensor hashes = hash_column(keys[0]);
  for (size_t i = 1; i < keys.size(); ++i) hashes = kernels::hash64_combine(hashes, hash_column(keys[i]));
  return hashes;
}

}  // namespace

at::Tensor hash_rows(const std::vector<Column>& keys, const CancelToken& token) {
  ENSURE(!keys.empty());
  const int64_t rows = keys[0].rows();
  int64_t step = kRowsPerPoll;
  // The entries of a dictionary may all be hashed in one strip.
  for (const Column& key : keys) step = std::max(step, key.is_dictionary() ? key.dictionary_column()->rows() : 0);
  if (rows <= step || !keys[0].device().is_cpu()) return hash_strip(keys);
  at::Tensor hashes = at::empty({rows}, at::kLong);
  for (int64_t begin = 0; begin < rows; begin += step) {
    token.throw_if_cancelled();
    const int64_t count = std::min(step, rows - begin);
    std::vector<Column> strip;
    for (const Column& key : keys) strip.push_back(key.slice(begin, count));
    hashes.narrow(0, begin, count).copy_(hash_strip(strip));
  }
  return hashes;
}

bool hash_is_exact(LogicalType type) {
  return !type.is_text() && !type.is_wide() && !type.is_floating();
}

}  // namespace pistachio
