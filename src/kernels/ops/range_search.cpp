// Entry point of range_search.
#include "kernels/ops/range_search.h"

#include <ATen/core/Tensor.h>

#include "base/check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/relational_check.h"
#include "kernels/ops/stop_flag.h"

namespace pistachio::kernels {

at::Tensor range_search(const at::Tensor& keys, const at::Tensor& bounds, const at::Tensor& begins, const at::Tensor& ends, bool after_equal,
                        const at::Tensor& stop) {
  check_words(keys, keys);
  for (const at::Tensor& places : {bounds, begins, ends}) {
    check_words(places, keys);
    ENSURE_EQ(places.size(0), bounds.size(0));
  }
  static const Operation<at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&, bool,
                                    const std::optional<at::Tensor>&)>
      operation("range_search");
  return operation.on(keys)(keys.contiguous(), bounds.contiguous(), begins.contiguous(), ends.contiguous(), after_equal,
                            optional_stop(stop));
}

}  // namespace pistachio::kernels
