// CUDA body of plain_text_decode: synchronizes once, for the page errors, unless checks are deferred.
#include <c10/cuda/CUDAGuard.h>

#include <vector>

#include "base/error.h"
#include "kernels/cuda/decode_status.h"
#include "kernels/cuda/plain_text_decode_cuda.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cuda {

namespace {

// Finding the values takes four bytes of memory for each byte of text, so pages are decoded in batches that just fill a large GPU.
constexpr int64_t max_batch_tiles = (int64_t{16} << 20) / text_tile_bytes;
// A larger page is decoded as one piece.
constexpr int64_t max_page_tiles = (int64_t{64} << 20) / text_tile_bytes;

int64_t tiles_of(int64_t page_bytes) {
  const int64_t tiles = (page_bytes + text_tile_bytes - 1) / text_tile_bytes;
  return tiles > 1 && tiles <= max_page_tiles ? tiles : 0;
}

std::tuple<at::Tensor, at::Tensor> plain_text_decode(const at::Tensor& bytes, const at::Tensor& pages) {
  const c10::cuda::CUDAGuard guard(bytes.device());
  std::vector<TextPage> table;
  std::vector<TextPages> batches;
  int64_t total = 0;
  auto rows = pages.accessor<int64_t, 2>();
  for (int64_t page = 0; page < rows.size(0); ++page) {
    const int64_t begin = rows[page][0], end = rows[page][1], skip = rows[page][2], take = rows[page][3];
    // Every value has a length prefix of four bytes, so bogus counts are rejected before anything is allocated for them.
    if (skip + take > (end - begin) / 4) throw DataError("the page ends before its values", {.offset = end});
    const int64_t tiles = tiles_of(end - begin);
    if (batches.empty() || batches.back().tiles + tiles > max_batch_tiles) batches.push_back({nullptr, page, 0, 0});
    table.push_back({begin, end, skip, take, total, batches.back().tiles, tiles});
    batches.back().count += 1;
    batches.back().tiles += tiles;
    total += take;
  }
  const UploadedTable<TextPage> text_pages(table);
  DecodeStatus status = DecodeStatus::deferrable();
  const at::TensorOptions options = bytes.options().dtype(at::kLong);
  const auto outputs = [&] { return status.is_deferred() ? at::zeros({total}, options) : at::empty({total}, options); };
  at::Tensor begins = outputs(), ends = outputs();  // a bad page leaves values out
  for (TextPages& batch : batches) {
    batch.table = text_pages.data();
    check_launch(find_text(bytes.const_data_ptr<uint8_t>(), batch, begins.mutable_data_ptr<int64_t>(), ends.mutable_data_ptr<int64_t>(),
                           status.failure(), status.stream()));
  }
  throw_failure(status.finish(), pages);
  return {begins, ends};
}

}  // namespace

REGISTER_BODY(Cuda, "plain_text_decode", plain_text_decode);

}  // namespace pistachio::kernels::cuda
