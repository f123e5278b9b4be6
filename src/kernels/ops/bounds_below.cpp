// Entry point of bounds_below.
#include "kernels/ops/bounds_below.h"

#include <ATen/core/Tensor.h>

#include <vector>

#include "base/check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/relational_check.h"
#include "kernels/ops/stop_flag.h"

namespace pistachio::kernels {

at::Tensor bounds_below(at::TensorList words, at::TensorList bounds, const at::Tensor& stop) {
  ENSURE_GE(words.size(), size_t{1});
  ENSURE_EQ(words.size(), bounds.size());
  std::vector<at::Tensor> word_list, bound_list;
  for (size_t i = 0; i < words.size(); ++i) {
    check_words(words[i], words[0]);
    check_words(bounds[i], words[0]);
    ENSURE_EQ(words[i].size(0), words[0].size(0));
    ENSURE_EQ(bounds[i].size(0), bounds[0].size(0));
    word_list.push_back(words[i].contiguous());
    bound_list.push_back(bounds[i].contiguous());
  }
  static const Operation<at::Tensor(at::TensorList, at::TensorList, const std::optional<at::Tensor>&)> operation("bounds_below");
  return operation.on(words[0])(word_list, bound_list, optional_stop(stop));
}

}  // namespace pistachio::kernels
