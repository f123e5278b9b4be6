#include "exec/core/sort_words.h"

#include <ATen/ATen.h>

#include "columns/order_words.h"

namespace pistachio {

void append_sort_words(const Column& key, bool descending, bool nulls_first, std::vector<at::Tensor>& words,
                       const at::Tensor& stop) {
  if (key.has_validity()) {
    // 1 for what comes later.
    at::Tensor later = nulls_first ? key.validity() : key.validity().logical_not();
    words.push_back(later.to(at::kLong));
  }
  for (at::Tensor& word : order_words(key, stop)) {
    if (descending) word = word.bitwise_not();
    if (key.has_validity()) word = word.masked_fill(key.validity().logical_not(), 0);
    words.push_back(std::move(word));
  }
}

}  // namespace pistachio
