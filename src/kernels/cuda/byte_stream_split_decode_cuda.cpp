// CUDA body of byte_stream_split_decode. The page table is enough to validate the pages, so nothing here synchronizes.
#include <c10/cuda/CUDAGuard.h>
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "kernels/cuda/byte_stream_split_decode_cuda.h"
#include "kernels/cuda/decode_status.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cuda {

namespace {

// Rejects bogus counts before anything is allocated for them.
void check_counts(const at::Tensor& pages, int64_t width) {
  auto rows = pages.accessor<int64_t, 2>();
  for (int64_t page = 0; page < rows.size(0); ++page) {
    const int64_t begin = rows[page][0], end = rows[page][1], values = rows[page][2], needed = rows[page][3] + rows[page][4];
    if (values < 0 || values > (end - begin) / width) {
      throw DataError(fmt::format("{} values of {} bytes in a page of {} bytes", values, width, end - begin), {.offset = end});
    }
    if (needed > values) {
      throw DataError(fmt::format("the page has {} values where {} are needed", values, needed), {.offset = end});
    }
  }
}

std::vector<StreamSlice> cut_slices(const at::Tensor& pages, int64_t width) {
  constexpr int64_t slice_bytes = int64_t{32} << 10;
  const int64_t slice_rows = std::max<int64_t>(1, slice_bytes / width);
  std::vector<StreamSlice> slices;
  int64_t target = 0;
  auto rows = pages.accessor<int64_t, 2>();
  for (int64_t page = 0; page < rows.size(0); ++page) {
    const int64_t values = rows[page][2], source = rows[page][0] + rows[page][3], take = rows[page][4];
    for (int64_t done = 0; done < take; done += slice_rows) {
      slices.push_back({source + done, values, target + done, std::min(slice_rows, take - done)});
    }
    target += take;
  }
  return slices;
}

at::Tensor byte_stream_split_decode(const at::Tensor& bytes, const at::Tensor& pages, int64_t width) {
  const c10::cuda::CUDAGuard guard(bytes.device());
  check_counts(pages, width);
  at::Tensor joined = at::empty({total_take(pages), width}, bytes.options());
  const UploadedTable<StreamSlice> slices(cut_slices(pages, width));
  check_launch(join_byte_streams(bytes.const_data_ptr<uint8_t>(), slices.data(), slices.size(), width, joined.mutable_data_ptr<uint8_t>(),
                                 c10::cuda::getCurrentCUDAStream()));
  return joined;
}

}  // namespace

REGISTER_BODY(Cuda, "byte_stream_split_decode", byte_stream_split_decode);

}  // namespace pistachio::kernels::cuda
