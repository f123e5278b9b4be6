#include "exec/core/sort_words.h"

#include <algorithm>

#include "columns/order_words.h"
#include "kernels/ops/stop_flag.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

// Rows between two polls of the stop flag.
constexpr int64_t kRowsPerStrip = 1 << 22;

void append_words(const Column& key, bool descending, bool nulls_first, std::vector<at::Tensor>& words, const at::Tensor& stop) {
  if (key.has_validity()) {
    // 1 for the rows that sort later.
    at::Tensor later = nulls_first ? key.validity() : key.validity().logical_not();
    words.push_back(later.to(at::kLong));
  }
  for (at::Tensor& word : order_words(key, stop)) {
    if (descending) word = word.bitwise_not();
    if (key.has_validity()) word = word.masked_fill(key.validity().logical_not(), 0);
    words.push_back(std::move(word));
  }
}

}  // namespace

// Words of numbers are computed strip by strip. Those of text are ranks among all rows; the ranking kernel polls by itself.
void append_sort_words(const Column& key, bool descending, bool nulls_first, std::vector<at::Tensor>& words,
                       const at::Tensor& stop) {
  // 64-bit values are their own words.
  const bool is_free = !descending && !key.has_validity() && !key.is_dictionary() && !key.type().is_wide() &&
                       !key.type().is_text() && key.type().scalar_type() == at::kLong;
  if (is_free || key.type().is_text() || key.rows() <= kRowsPerStrip || !key.device().is_cpu())
    return append_words(key, descending, nulls_first, words, stop);
  const kernels::StopCheck check(kernels::optional_stop(stop));
  std::vector<at::Tensor> all;
  for (int64_t begin = 0; begin < key.rows(); begin += kRowsPerStrip) {
    check();
    const int64_t count = std::min(kRowsPerStrip, key.rows() - begin);
    std::vector<at::Tensor> strip;
    append_words(key.slice(begin, count), descending, nulls_first, strip, stop);
    if (all.empty()) {
      for (const at::Tensor& word : strip) all.push_back(at::empty({key.rows()}, word.options()));
    }
    for (size_t i = 0; i < strip.size(); ++i) all[i].narrow(0, begin, count).copy_(strip[i]);
  }
  words.insert(words.end(), all.begin(), all.end());
}

}  // namespace pistachio
