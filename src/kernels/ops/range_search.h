// Searches ordered ranges of rows, for window frames that end at values.
//   keys          int64 [n], ascending within each range
//   bounds        int64 [m]
//   begins, ends  int64 [m] in [0, n], not checked: the range that is searched for each bound. Fast if the results of neighbours are close
//   after_equal   rows with the bound itself are before it
//   stop          bool [1] on the host, as in stop_flag.h, or undefined
// Returns int64 [m]: the first row of the range whose key is not less than the bound (after_equal: greater than it); its end if there is none.
#pragma once

#include <ATen/core/Tensor.h>

namespace pistachio::kernels {

at::Tensor range_search(const at::Tensor& keys, const at::Tensor& bounds, const at::Tensor& begins, const at::Tensor& ends, bool after_equal,
                        const at::Tensor& stop = {});

}  // namespace pistachio::kernels
