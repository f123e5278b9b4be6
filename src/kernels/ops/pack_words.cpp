// Entry point of pack_words and unpack_words.
#include "kernels/ops/pack_words.h"

#include <ATen/core/Tensor.h>

#include "base/check.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"

namespace pistachio::kernels {

namespace {

constexpr int64_t kMaxBits = 12;

void check_layout(const WordLayout& layout, size_t columns) {
  ENSURE(layout.keys >= 1 && layout.keys <= static_cast<int64_t>(columns), "{} keys in {} columns", layout.keys, columns);
  ENSURE(layout.turn >= 0 && layout.turn < 64, "hashes turned by {}", layout.turn);
}

}  // namespace

std::tuple<at::Tensor, at::Tensor> pack_words(const std::vector<at::Tensor>& columns, const WordLayout& layout, int64_t bits) {
  check_layout(layout, columns.size());
  ENSURE(bits >= 0 && bits <= kMaxBits, "2^{} parts", bits);
  std::vector<at::Tensor> contiguous;
  for (const at::Tensor& column : columns) {
    check_values(column);
    ENSURE(column.device().is_cpu());
    ENSURE_EQ(column.size(0), columns[0].size(0));
    contiguous.push_back(column.contiguous());
  }
  ENSURE(layout.keep_key || (layout.keys == 1 && columns[0].dim() == 1 && !columns[0].is_floating_point()));
  static const Operation<std::tuple<at::Tensor, at::Tensor>(at::TensorList, int64_t, bool, int64_t, int64_t)> operation("pack_words");
  return operation.on(columns[0])(contiguous, layout.keys, layout.keep_key, layout.turn, bits);
}

std::vector<at::Tensor> unpack_words(const std::vector<at::Tensor>& pieces, const std::vector<WordColumn>& columns,
                                     const WordLayout& layout) {
  check_layout(layout, columns.size());
  ENSURE(!pieces.empty());
  int64_t width = 1;
  std::vector<int64_t> types, words;
  for (size_t i = 0; i < columns.size(); ++i) {
    ENSURE(!columns[i].is_wide || columns[i].type == at::kLong);
    types.push_back(static_cast<int64_t>(columns[i].type));
    words.push_back(columns[i].is_wide ? 2 : 1);
    width += i > 0 || layout.keep_key ? words.back() : 0;
  }
  ENSURE(layout.keep_key || (layout.keys == 1 && !columns[0].is_wide && !at::isFloatingType(columns[0].type)));
  std::vector<at::Tensor> contiguous;
  for (const at::Tensor& piece : pieces) {
    ENSURE(piece.scalar_type() == at::kLong && piece.dim() == 2 && piece.device().is_cpu());
    ENSURE_EQ(piece.size(1), width);
    contiguous.push_back(piece.contiguous());
  }
  static const Operation<std::vector<at::Tensor>(at::TensorList, at::IntArrayRef, at::IntArrayRef, bool, int64_t)> operation(
      "unpack_words");
  return operation.on(pieces[0])(contiguous, types, words, layout.keep_key, layout.turn);
}

}  // namespace pistachio::kernels
