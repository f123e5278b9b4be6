// CUDA body of definition_levels_decode: synchronizes once, for the counts and the page errors. Skipped levels are decoded too, because
// they have to be counted and checked.
#include <c10/cuda/CUDAGuard.h>

#include <bit>

#include "kernels/cuda/decode_status.h"
#include "kernels/cuda/run_parts.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cuda {

namespace {

std::tuple<at::Tensor, at::Tensor> definition_levels_decode(const at::Tensor& bytes, const at::Tensor& pages) {
  const c10::cuda::CUDAGuard guard(bytes.device());
  std::vector<RunPart> whole;
  int64_t total = 0;
  auto rows = pages.accessor<int64_t, 2>();
  for (int64_t page = 0; page < rows.size(0); ++page) {
    const int64_t max_level = rows[page][2], skip = rows[page][3], take = rows[page][4];
    whole.push_back({.begin = rows[page][0],
                     .end = rows[page][1],
                     .bit_width = static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(max_level))),
                     .max_value = max_level,
                     .skip = 0,
                     .count = skip + take,
                     .hidden = skip,
                     .target = total,
                     .page = page,
                     .ends_page = false});
    total += take;
  }
  check_run_counts(bytes, pages, whole, total);
  at::Tensor validity = at::empty({total}, bytes.options().dtype(at::kBool));
  const UploadedTable<RunPart> parts(cut_run_parts(whole));
  DecodeStatus status(2 * pages.size(0));
  check_launch(decode_levels(bytes.const_data_ptr<uint8_t>(), parts.data(), parts.size(),
                             reinterpret_cast<uint8_t*>(validity.mutable_data_ptr<bool>()), status.results(), status.failure(),
                             status.stream()));
  throw_failure(status.finish(), pages);
  return {validity, status.host_results().view({pages.size(0), 2})};
}

}  // namespace

REGISTER_BODY(Cuda, "definition_levels_decode", definition_levels_decode);

}  // namespace pistachio::kernels::cuda
