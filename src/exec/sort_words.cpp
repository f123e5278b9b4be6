#include "exec/sort_words.h"

#include <ATen/ATen.h>

#include "data/concatenate_columns.h"
#include "kernels/ops/text_ranks.h"

namespace pistachio {

namespace {

// Doubles as integers of the same order: -0.0 as 0.0, all NaNs alike and above everything.
at::Tensor floating_word(const at::Tensor& values) {
  at::Tensor numbers = (values.to(at::kDouble) + 0.0);
  at::Tensor bits = numbers.view(at::kLong);
  at::Tensor word = at::where(bits.lt(0), bits.bitwise_xor(INT64_MAX), bits);
  return word.masked_fill(numbers.isnan(), INT64_MAX);
}

// Words of one key, most significant first, ascending; without regard to NULLs.
std::vector<at::Tensor> value_words(const Column& column) {
  if (column.type().is_text()) {
    if (!column.is_dictionary()) return {kernels::text_ranks(column.bytes(), column.begins(), column.ends())};
    const Column& entries = *column.dictionary_column();
    return {kernels::text_ranks(entries.bytes(), entries.begins(), entries.ends()).index_select(0, column.codes())};
  }
  Column plain = decode_dictionary(column);
  if (plain.type().is_floating()) return {floating_word(plain.values())};
  if (plain.type().kind() == TypeKind::Interval) {
    at::Tensor high = plain.values().select(1, 1);
    at::Tensor days = high.bitwise_right_shift(32) * 30 + high.bitwise_left_shift(32).bitwise_right_shift(32);
    return {plain.values().select(1, 0) + days * (int64_t{86'400} * 1'000'000)};
  }
  if (plain.type().is_wide()) {
    // The low word is unsigned: its order as signed is that with the top bit flipped.
    return {plain.values().select(1, 1).contiguous(), plain.values().select(1, 0).bitwise_xor(INT64_MIN)};
  }
  return {plain.values().to(at::kLong)};
}

}  // namespace

void append_sort_words(const Column& key, bool descending, bool nulls_first, std::vector<at::Tensor>& words) {
  if (key.has_validity()) {
    // 1 for what comes later.
    at::Tensor later = nulls_first ? key.validity() : key.validity().logical_not();
    words.push_back(later.to(at::kLong));
  }
  for (at::Tensor& word : value_words(key)) {
    if (descending) word = word.bitwise_not();
    if (key.has_validity()) word = word.masked_fill(key.validity().logical_not(), 0);
    words.push_back(std::move(word));
  }
}

}  // namespace pistachio
