// Entry point of range_extreme.
#include "kernels/ops/range_extreme.h"

#include <ATen/core/Tensor.h>

#include "base/check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/relational_check.h"
#include "kernels/ops/stop_flag.h"

namespace pistachio::kernels {

at::Tensor range_extreme(const at::Tensor& words, const at::Tensor& validity, const at::Tensor& begins, const at::Tensor& ends, bool take_max,
                         const at::Tensor& stop) {
  check_words(words, words);
  check_ranges(begins, ends, words);
  const std::optional<at::Tensor> mask = optional_validity(validity, words.size(0), words);
  static const Operation<at::Tensor(const at::Tensor&, const std::optional<at::Tensor>&, const at::Tensor&, const at::Tensor&, bool,
                                    const std::optional<at::Tensor>&)>
      operation("range_extreme");
  return operation.on(words)(words.contiguous(), mask, begins.contiguous(), ends.contiguous(), take_max, optional_stop(stop));
}

}  // namespace pistachio::kernels
