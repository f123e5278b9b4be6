// CPU body of download_ranges, which packs the rows of messages and spilled rows.
#include <torch/library.h>

#include <cstring>

#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

namespace {

void download_ranges(const at::Tensor& target, at::TensorList sources, at::IntArrayRef offsets) {
  auto* out = target.mutable_data_ptr<uint8_t>();
  for (size_t i = 0; i < sources.size(); ++i) {
    if (sources[i].numel() > 0) std::memcpy(out + offsets[i], sources[i].const_data_ptr(), sources[i].nbytes());
  }
}

}  // namespace

TORCH_LIBRARY_IMPL(pistachio, CPU, library) {
  library.impl("download_ranges", TORCH_FN(download_ranges));
}

}  // namespace pistachio::kernels::cpu
