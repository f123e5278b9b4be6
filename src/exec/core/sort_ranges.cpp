#include "exec/core/sort_ranges.h"

#include <algorithm>

#include "columns/decode_dictionary.h"
#include "columns/row_selection.h"
#include "exec/core/sort_words.h"
#include "exec/core/stoppable_call.h"
#include "kernels/ops/bounds_below.h"
#include "kernels/ops/sort_order.h"
#include "kernels/ops/tensor_functions.h"
#include "kernels/ops/text_prefixes.h"
#include "kernels/ops/text_ranks.h"

namespace pistachio {

namespace {

// Rows of the sample for each range. Ranges then differ in size by less than a half.
constexpr int64_t kSampleRows = 32;

// uint8: the bytes that all values begin with, NULLs aside.
at::Tensor common_prefix(const Column& texts) {
  Column plain = decode_dictionary(texts);
  if (plain.has_validity()) plain = select_rows(plain, plain.validity());
  if (plain.rows() == 0) return at::empty({0}, at::kByte);
  // The least and the greatest value have it in common.
  const at::Tensor ranks = kernels::text_ranks(plain.bytes(), plain.begins(), plain.ends());
  const auto value_at = [&](const at::Tensor& place) {
    const int64_t begin = plain.begins().index_select(0, place).item<int64_t>();
    return plain.bytes().slice(0, begin, plain.ends().index_select(0, place).item<int64_t>());
  };
  const at::Tensor least = value_at(ranks.argmin().view({1})), greatest = value_at(ranks.argmax().view({1}));
  const uint8_t* bytes = least.const_data_ptr<uint8_t>();
  const uint8_t* others = greatest.const_data_ptr<uint8_t>();
  const auto most = std::min(least.numel(), greatest.numel());
  return least.slice(0, 0, std::mismatch(bytes, bytes + most, others).first - bytes).clone();
}

// Appends the words of a text key. Returns which rows (bool) the words may not tell from others with equal ones.
at::Tensor append_text_words(const Column& key, const SortKey& order, const at::Tensor& prefix, std::vector<at::Tensor>& words) {
  const Column plain = decode_dictionary(key);
  auto [bytes, lengths] = kernels::text_prefixes(plain.bytes(), plain.begins(), plain.ends(), prefix);
  at::Tensor is_undecided = lengths.eq(9).logical_or_(lengths.eq(-1));
  if (key.has_validity()) {
    words.push_back((order.nulls_first ? key.validity() : key.validity().logical_not()).to(at::kLong));
    is_undecided.logical_and_(key.validity());
  }
  for (at::Tensor word : {bytes, lengths}) {
    if (order.descending) word = word.bitwise_not();
    words.push_back(key.has_validity() ? word.masked_fill(key.validity().logical_not(), 0) : word);
  }
  return is_undecided;
}

}  // namespace

SortRanges::SortRanges(const std::vector<SortKey>& keys, Chunk key_values, int64_t bits, const CancelToken& token)
    : keys_(keys), values_(std::move(key_values)), bits_(bits) {
  const int64_t picked = std::min(values_.rows(), count() * kSampleRows);
  // Evenly spaced rows: the middle of each of `picked` equal parts.
  const at::Tensor rows = at::arange(picked, at::kLong).mul_(values_.rows()).add_(values_.rows() / 2).div_(picked, "floor");
  const Chunk sample = take_rows(values_, rows);
  for (size_t i = 0; i < keys_.size(); ++i)
    prefixes_.push_back(keys_[i].expression->type().is_text() ? common_prefix(sample.column(i)) : at::Tensor());
  const std::vector<at::Tensor> words = words_of(sample, rows);
  const at::Tensor order = call_stoppable(token, [&](const at::Tensor& stop) { return kernels::sort_order(words, stop); });
  const at::Tensor places = order.index_select(0, at::arange(1, count(), at::kLong).mul_(picked).div_(count(), "floor"));
  for (const at::Tensor& word : words) bounds_.push_back(word.index_select(0, places));
}

std::vector<at::Tensor> SortRanges::words_of(const Chunk& values, at::Tensor numbers) const {
  std::vector<at::Tensor> words;
  // Rows whose order is decided by more than the words so far must not be divided by later ones.
  at::Tensor is_undecided;
  const auto blank_undecided = [&](at::Tensor& word) {
    if (is_undecided.defined()) word = word.masked_fill(is_undecided, 0);
  };
  for (size_t i = 0; i < keys_.size(); ++i) {
    const size_t first = words.size();
    const at::Tensor before = is_undecided;
    if (prefixes_[i].defined()) {
      is_undecided = append_text_words(values.column(i), keys_[i], prefixes_[i], words);
      if (before.defined()) is_undecided.logical_or_(before);
    } else {
      append_sort_words(values.column(i), keys_[i].descending, keys_[i].nulls_first, words);
    }
    if (before.defined()) {
      for (size_t word = first; word < words.size(); ++word) words[word] = words[word].masked_fill(before, 0);
    }
  }
  blank_undecided(numbers);
  words.push_back(std::move(numbers));
  return words;
}

at::Tensor SortRanges::radix_words(int64_t begin, int64_t count, const CancelToken& token) const {
  const std::vector<at::Tensor> words = words_of(values_.slice(begin, count), at::arange(begin, begin + count, at::kLong));
  const at::Tensor ranges = call_stoppable(token, [&](const at::Tensor& stop) { return kernels::bounds_below(words, bounds_, stop); });
  return bits_ == 0 ? ranges : ranges.bitwise_left_shift(64 - bits_);
}

}  // namespace pistachio
