// CPU bodies of combine_rows and combine_flush.
#include <torch/library.h>

#include <vector>

#include "base/error.h"
#include "kernels/cpu/combine_table.h"
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

at::Tensor combine_flush(at::Tensor& table) {
  const CombineTable entries{words_of(table), table.size(0)};
  at::Tensor rows = at::empty({count_entries(entries, table.size(1)), table.size(1)}, at::kLong);
  take_entries(entries, table.size(1), words_of(rows));
  return rows;
}

}  // namespace

TORCH_LIBRARY_IMPL(pistachio, CPU, library) {
  library.impl("combine_rows", TORCH_FN(combine_rows));
  library.impl("combine_flush", TORCH_FN(combine_flush));
}

}  // namespace pistachio::kernels::cpu
