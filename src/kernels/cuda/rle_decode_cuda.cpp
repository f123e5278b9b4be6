// CUDA body of rle_decode: synchronizes once, for the page errors, unless checks are deferred.
#include <c10/cuda/CUDAGuard.h>

#include <limits>

#include "kernels/cuda/decode_status.h"
#include "kernels/cuda/run_parts.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cuda {

namespace {

at::Tensor rle_decode(const at::Tensor& bytes, const at::Tensor& pages) {
  const c10::cuda::CUDAGuard guard(bytes.device());
  std::vector<RunPart> whole;
  int64_t total = 0;
  auto rows = pages.accessor<int64_t, 2>();
  for (int64_t page = 0; page < rows.size(0); ++page) {
    const int64_t limit = rows[page][3], take = rows[page][6];
    whole.push_back({.begin = rows[page][0],
                     .end = rows[page][1],
                     .bit_width = rows[page][2],
                     .max_value = limit > 0 ? limit - 1 : std::numeric_limits<uint32_t>::max(),
                     .skip = rows[page][5],
                     .count = take,
                     .hidden = 0,
                     .target = total,
                     .page = page,
                     .base = rows[page][4],
                     .ends_page = true});
    total += take;
  }
  check_run_counts(bytes, pages, whole, total * static_cast<int64_t>(sizeof(int32_t)));
  const UploadedTable<RunPart> parts(cut_run_parts(whole));
  DecodeStatus status = DecodeStatus::deferrable();
  at::Tensor values = at::empty({total}, bytes.options().dtype(at::kInt));
  check_launch(decode_codes(bytes.const_data_ptr<uint8_t>(), parts.data(), parts.size(), values.mutable_data_ptr<int32_t>(),
                            status.failure(), status.stream()));
  throw_failure(status.finish(), pages);
  return values;
}

}  // namespace

REGISTER_BODY(Cuda, "rle_decode", rle_decode);

}  // namespace pistachio::kernels::cuda
