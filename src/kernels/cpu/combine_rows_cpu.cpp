// CPU bodies of combine_rows, combine_flush and turn_hashes.

#include <bit>
#include <vector>

#include "base/error.h"
#include "kernels/cpu/combine_table.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/combine_rows.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

namespace {

uint64_t* words_of(const at::Tensor& tensor) {
  return static_cast<uint64_t*>(tensor.mutable_data_ptr());
}

std::tuple<at::Tensor, int64_t> combine_rows(at::Tensor& table, const at::Tensor& rows, int64_t key_words, at::IntArrayRef merges) {
  std::vector<MergeOp> ops;
  for (const int64_t merge : merges) ops.push_back(static_cast<MergeOp>(merge));
  at::Tensor evicted = at::empty_like(rows);
  const CombineProgress done = combine_into({words_of(table), table.size(0)}, static_cast<const uint64_t*>(rows.const_data_ptr()),
                                            rows.size(0), key_words, ops, words_of(evicted));
  if (done.overflow) throw UserError("sum is out of range");
  // A view keeps the whole allocation alive: acceptable for rows that are about to be sent, unless most of it is unused.
  const at::Tensor part = evicted.slice(0, 0, done.evicted);
  return {done.evicted < rows.size(0) / 8 ? part.clone() : part, done.merged};
}

at::Tensor combine_flush(at::Tensor& table, int64_t begin, int64_t end, int64_t low_mask, int64_t value) {
  const CombineTable entries{words_of(table), table.size(0)};
  const EntryChoice chosen{begin, end, static_cast<uint64_t>(low_mask), static_cast<uint64_t>(value)};
  const int64_t slots = end - begin;
  const at::Tensor rows = at::empty({slots + 1, table.size(1)}, at::kLong);
  const int64_t count = take_entries(entries, table.size(1), chosen, words_of(rows));
  const at::Tensor part = rows.slice(0, 0, count);
  return count < slots / 8 ? part.clone() : part;
}

void turn_hashes(at::Tensor& rows) {
  uint64_t* hash = words_of(rows);
  const int64_t width = rows.size(1), words = rows.numel();
  for (int64_t at = 0; at < words; at += width) hash[at] = std::rotl(hash[at], 32);
}

}  // namespace

REGISTER_BODY(Cpu, "combine_rows", combine_rows);
REGISTER_BODY(Cpu, "combine_flush", combine_flush);
REGISTER_BODY(Cpu, "turn_hashes", turn_hashes);

}  // namespace pistachio::kernels::cpu
