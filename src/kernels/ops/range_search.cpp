// Schema and entry point of range_search.
#include "kernels/ops/range_search.h"

#include <ATen/core/Tensor.h>
#include <torch/library.h>

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
  static const auto operation = find_operation<at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&, bool,
                                                          const std::optional<at::Tensor>&)>("pistachio::range_search");
  return operation.redispatch(dispatch_keys(keys), keys.contiguous(), bounds.contiguous(), begins.contiguous(), ends.contiguous(), after_equal,
                              optional_stop(stop));
}

TORCH_LIBRARY_FRAGMENT(pistachio, library) {
  library.def("range_search(Tensor keys, Tensor bounds, Tensor begins, Tensor ends, bool after_equal, Tensor? stop) -> Tensor");
}

}  // namespace pistachio::kernels
