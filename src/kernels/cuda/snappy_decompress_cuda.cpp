// CUDA body of snappy_decompress: does not synchronize.
#include "kernels/cuda/snappy_decompress_cuda.h"

#include <ATen/ATen.h>
#include <torch/library.h>

#include <algorithm>
#include <vector>

#include "kernels/cuda/decode_status.h"
#include "kernels/cuda/kernel_call.h"

namespace pistachio::kernels::cuda {

namespace {

std::tuple<at::Tensor, at::Tensor> snappy_decompress(const at::Tensor& bytes, const at::Tensor& pages) {
  const KernelCall call(bytes);
  std::vector<SnappyPage> table;
  int64_t total = 0;
  auto rows = pages.accessor<int64_t, 2>();
  for (int64_t page = 0; page < rows.size(0); ++page) {
    const int64_t begin = rows[page][0], size = rows[page][3];
    table.push_back({begin, total, static_cast<uint32_t>(rows[page][1] - begin), static_cast<uint32_t>(rows[page][2]),
                     static_cast<uint32_t>(size), static_cast<uint32_t>(page)});
    total += size;
  }
  // The longest first: no block should start a long page when the others are done.
  std::stable_sort(table.begin(), table.end(), [](const SnappyPage& left, const SnappyPage& right) { return left.bytes > right.bytes; });
  at::Tensor out = at::empty({total}, bytes.options());
  at::Tensor first_damaged = at::empty({1}, bytes.options().dtype(at::kLong));
  const UploadedTable<SnappyPage> uploaded(table);
  check_launch(cudaMemsetAsync(first_damaged.mutable_data_ptr(), 0, sizeof(int64_t), call.stream()));
  check_launch(decompress_snappy(bytes.const_data_ptr<uint8_t>(), uploaded.data(), uploaded.size(), out.mutable_data_ptr<uint8_t>(),
                                 static_cast<unsigned long long*>(first_damaged.mutable_data_ptr()), call.stream()));
  return {out, first_damaged};
}

}  // namespace

TORCH_LIBRARY_IMPL(pistachio, CUDA, library) {
  library.impl("snappy_decompress", TORCH_FN(snappy_decompress));
}

}  // namespace pistachio::kernels::cuda
