// CUDA bodies of plain_decode, plain_fixed_bytes_decode and plain_boolean_decode. The page table is enough to check that pages are long
// enough, so nothing here synchronizes. All pages are checked before anything is allocated: a bogus count is a DataError, not a lack of
// memory.
#include <c10/cuda/CUDAGuard.h>
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "kernels/cuda/decode_status.h"
#include "kernels/cuda/plain_decode_cuda.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cuda {

namespace {

// Throws if a page is shorter than `bytes_of(values)`.
template <typename BytesOf>
void check_lengths(const at::Tensor& pages, const BytesOf& bytes_of) {
  auto rows = pages.accessor<int64_t, 2>();
  for (int64_t page = 0; page < rows.size(0); ++page) {
    const int64_t begin = rows[page][0], end = rows[page][1], needed = bytes_of(rows[page][2] + rows[page][3]);
    if (needed > end - begin) {
      throw DataError(fmt::format("the page has {} bytes where {} are needed", end - begin, needed), {.offset = end});
    }
  }
}

// Cuts the taken part of each page into slices of at most slice_bytes. A value takes `unit` units of the source, which has `units_per_byte`
// of them (1 for bytes, 8 for bits), and `width` elements of the output.
std::vector<CopySlice> cut_slices(const at::Tensor& pages, int64_t units_per_byte, int64_t unit, int64_t width) {
  std::vector<CopySlice> slices;
  int64_t target = 0;
  auto rows = pages.accessor<int64_t, 2>();
  for (int64_t page = 0; page < rows.size(0); ++page) {
    const int64_t source = rows[page][0] * units_per_byte + rows[page][2] * unit, total = rows[page][3] * width;
    for (int64_t done = 0; done < total; done += slice_bytes) {
      slices.push_back({source + done, target + done, std::min(slice_bytes, total - done)});
    }
    target += total;
  }
  return slices;
}

void copy_values(const at::Tensor& bytes, const at::Tensor& pages, int64_t width, at::Tensor& out) {
  const UploadedTable<CopySlice> slices(cut_slices(pages, 1, width, width));
  check_launch(copy_slices(bytes.const_data_ptr<uint8_t>(), slices.data(), slices.size(), static_cast<uint8_t*>(out.mutable_data_ptr()),
                           c10::cuda::getCurrentCUDAStream()));
}

at::Tensor plain_decode(const at::Tensor& bytes, const at::Tensor& pages, c10::ScalarType type) {
  const c10::cuda::CUDAGuard guard(bytes.device());
  const int64_t width = static_cast<int64_t>(c10::elementSize(type));
  check_lengths(pages, [width](int64_t values) { return values * width; });
  at::Tensor values = at::empty({total_take(pages)}, bytes.options().dtype(type));
  copy_values(bytes, pages, width, values);
  return values;
}

at::Tensor plain_fixed_bytes_decode(const at::Tensor& bytes, const at::Tensor& pages, int64_t width) {
  const c10::cuda::CUDAGuard guard(bytes.device());
  check_lengths(pages, [width](int64_t values) { return values * width; });
  at::Tensor values = at::empty({total_take(pages), width}, bytes.options());
  copy_values(bytes, pages, width, values);
  return values;
}

at::Tensor plain_boolean_decode(const at::Tensor& bytes, const at::Tensor& pages) {
  const c10::cuda::CUDAGuard guard(bytes.device());
  check_lengths(pages, [](int64_t values) { return (values + 7) / 8; });
  at::Tensor values = at::empty({total_take(pages)}, bytes.options().dtype(at::kBool));
  const UploadedTable<CopySlice> slices(cut_slices(pages, 8, 1, 1));
  check_launch(expand_bit_slices(bytes.const_data_ptr<uint8_t>(), slices.data(), slices.size(),
                                 reinterpret_cast<uint8_t*>(values.mutable_data_ptr<bool>()), c10::cuda::getCurrentCUDAStream()));
  return values;
}

}  // namespace

REGISTER_BODY(Cuda, "plain_decode", plain_decode);
REGISTER_BODY(Cuda, "plain_fixed_bytes_decode", plain_fixed_bytes_decode);
REGISTER_BODY(Cuda, "plain_boolean_decode", plain_boolean_decode);

}  // namespace pistachio::kernels::cuda
