// Entry point of sort_order.
#include "kernels/ops/sort_order.h"

#include <ATen/core/Tensor.h>

#include <vector>

#include "base/check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/relational_check.h"
#include "kernels/ops/stop_flag.h"

namespace pistachio::kernels {

at::Tensor sort_order(at::TensorList words, const at::Tensor& stop) {
  ENSURE_GE(words.size(), size_t{1});
  std::vector<at::Tensor> contiguous;
  for (const at::Tensor& word : words) {
    check_words(word, words[0]);
    ENSURE_EQ(word.size(0), words[0].size(0));
    contiguous.push_back(word.contiguous());
  }
  static const Operation<at::Tensor(at::TensorList, const std::optional<at::Tensor>&)> operation("sort_order");
  return operation.on(words[0])(contiguous, optional_stop(stop));
}

}  // namespace pistachio::kernels
