// CUDA body of delta_binary_decode: synchronizes once, for the stream ends and the page errors.
#include <c10/cuda/CUDAGuard.h>

#include <vector>

#include "kernels/cuda/decode_status.h"
#include "kernels/cuda/delta_binary_decode_cuda.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cuda {

namespace {

// Outputs up to this size are allocated without checking the counts.
constexpr int64_t trusted_values = int64_t{1} << 27;

// Throws if a page has fewer values than requested, before memory is allocated for a bogus count. Only pages that claim more values than
// bits are checked; their headers are walked without unpacking.
void check_counts(const at::Tensor& bytes, const at::Tensor& page_table, const std::vector<DeltaPage>& pages) {
  std::vector<DeltaPage> doubtful;
  for (const DeltaPage& page : pages) {
    if (page.skip + page.take <= (page.end - page.begin) * 8) continue;
    doubtful.push_back(page);
    doubtful.back().skip += page.take;
    doubtful.back().take = 0;
  }
  if (doubtful.empty()) return;
  const UploadedTable<DeltaPage> table(doubtful);
  DecodeStatus status(page_table.size(0));
  check_launch(decode_deltas(bytes.const_data_ptr<uint8_t>(), table.data(), table.size(), false, nullptr, status.results(),
                             status.failure(), status.stream()));
  throw_failure(status.finish(), page_table);
}

std::tuple<at::Tensor, at::Tensor> delta_binary_decode(const at::Tensor& bytes, const at::Tensor& pages, bool is_32_bit) {
  const c10::cuda::CUDAGuard guard(bytes.device());
  std::vector<DeltaPage> delta_pages;
  int64_t total = 0;
  auto rows = pages.accessor<int64_t, 2>();
  for (int64_t page = 0; page < rows.size(0); ++page) {
    const int64_t take = rows[page][4];
    delta_pages.push_back({rows[page][0], rows[page][1], rows[page][3], take, total, page});
    total += take;
  }
  if (total > trusted_values) check_counts(bytes, pages, delta_pages);
  at::Tensor values = at::empty({total}, bytes.options().dtype(at::kLong));
  const UploadedTable<DeltaPage> table(delta_pages);
  DecodeStatus status(pages.size(0));
  check_launch(decode_deltas(bytes.const_data_ptr<uint8_t>(), table.data(), table.size(), is_32_bit, values.mutable_data_ptr<int64_t>(),
                             status.results(), status.failure(), status.stream()));
  throw_failure(status.finish(), pages);
  return {values, status.host_results()};
}

}  // namespace

REGISTER_BODY(Cuda, "delta_binary_decode", delta_binary_decode);

}  // namespace pistachio::kernels::cuda
