// CPU body of bounds_below: a branchless binary search by the first word, whose steps overlap between rows, then a search by all words
// among the bounds that have the same first one.
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <vector>

#include "kernels/ops/body_table.h"
#include "kernels/ops/stop_flag.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

namespace {

std::vector<const int64_t*> pointers_of(at::TensorList words) {
  std::vector<const int64_t*> pointers;
  for (const at::Tensor& word : words) pointers.push_back(word.const_data_ptr<int64_t>());
  return pointers;
}

class BoundSearch {
 public:
  BoundSearch(at::TensorList words, at::TensorList bounds)
      : words_(pointers_of(words)), bounds_(pointers_of(bounds)), count_(bounds[0].numel()) {}

  int64_t find(int64_t row) const {
    const int64_t key = words_[0][row];
    const int64_t* first = bounds_[0];
    const int64_t* low = first;
    for (int64_t left = count_; left > 1;) {
      const int64_t half = left / 2;
      low += half * static_cast<int64_t>(low[half - 1] < key);  // arithmetic: compilers turn a choice into a branch
      left -= half;
    }
    const int64_t less = low - first + (*low < key);  // bounds with a lesser first word
    return less < count_ && first[less] == key ? find_among_equals(row, key, less) : less;
  }

 private:
  // From the first bound with the row's first word on.
  int64_t find_among_equals(int64_t row, int64_t key, int64_t begin) const {
    const int64_t end = std::upper_bound(bounds_[0] + begin, bounds_[0] + count_, key) - bounds_[0];
    int64_t low = begin;
    for (int64_t left = end - begin; left > 0;) {
      const int64_t half = left / 2;
      if (is_above(row, low + half)) {
        left = half;
      } else {
        low += half + 1;
        left -= half + 1;
      }
    }
    return low;
  }

  // Whether the bound is greater than the row, if their first words are equal.
  bool is_above(int64_t row, int64_t bound) const {
    for (size_t word = 1; word < words_.size(); ++word) {
      if (words_[word][row] != bounds_[word][bound]) return words_[word][row] < bounds_[word][bound];
    }
    return false;
  }

  std::vector<const int64_t*> words_;
  std::vector<const int64_t*> bounds_;
  int64_t count_;
};

at::Tensor bounds_below(at::TensorList words, at::TensorList bounds, const std::optional<at::Tensor>& stop) {
  const int64_t rows = words[0].numel();
  if (bounds[0].numel() == 0) return at::zeros({rows}, at::kLong);
  const BoundSearch search(words, bounds);
  at::Tensor found = at::empty({rows}, at::kLong);
  int64_t* out = found.mutable_data_ptr<int64_t>();
  for_each_strip(rows, StopCheck(stop), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) out[row] = search.find(row);
  });
  return found;
}

}  // namespace

REGISTER_BODY(Cpu, "bounds_below", bounds_below);

}  // namespace pistachio::kernels::cpu
