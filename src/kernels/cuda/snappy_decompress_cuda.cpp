// CUDA body of snappy_decompress: does not synchronize.
#include "kernels/cuda/snappy_decompress_cuda.h"

#include <algorithm>
#include <vector>

#include "kernels/cuda/decode_status.h"
#include "kernels/cuda/kernel_call.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cuda {

namespace {

// The tables of a call.
struct Work {
  explicit Work(const at::Tensor& table) {
    auto rows = table.accessor<int64_t, 2>();
    for (int64_t row = 0; row < rows.size(0); ++row) {
      const uint32_t plain = static_cast<uint32_t>(rows[row][2]), out_bytes = static_cast<uint32_t>(rows[row][3]);
      const SnappyPage page{.begin = rows[row][0],
                            .target = size,
                            .bytes = static_cast<uint32_t>(rows[row][1] - rows[row][0]),
                            .plain = plain,
                            .size = out_bytes,
                            .page = static_cast<uint32_t>(row),
                            .first_fragment = static_cast<uint32_t>(fragments.size()),
                            .first_tile = static_cast<uint32_t>(tiles.size())};
      size += out_bytes;
      const uint32_t index = static_cast<uint32_t>(pages.size());
      const uint32_t count = std::max(parts(out_bytes - plain, kSnappyFragmentBytes), 1u);
      for (uint32_t number = 0; number < count; ++number) fragments.push_back({index, number});
      if (count > 1) {
        for (uint32_t number = 0; number < parts(page.bytes - plain, kSnappyTileBytes); ++number) tiles.push_back({index, number});
      }
      pages.push_back(page);
    }
  }

  std::vector<SnappyPage> pages;
  std::vector<SnappyFragment> fragments;
  std::vector<SnappyTile> tiles;
  int64_t size = 0;  // of the output

 private:
  static uint32_t parts(uint32_t whole, uint32_t part) { return whole / part + (whole % part > 0 ? 1 : 0); }
};

template <typename Entry>
at::Tensor bytes_for(const at::Tensor& like, int64_t entries) {
  return at::empty({entries * static_cast<int64_t>(sizeof(Entry))}, like.options());
}

std::tuple<at::Tensor, at::Tensor> snappy_decompress(const at::Tensor& bytes, const at::Tensor& pages) {
  const KernelCall call(bytes);
  const Work work(pages);
  const UploadedTable<SnappyPage> uploaded_pages(work.pages);
  const UploadedTable<SnappyFragment> fragments(work.fragments);
  const UploadedTable<SnappyTile> tiles(work.tiles);
  at::Tensor out = at::empty({work.size}, bytes.options());
  at::Tensor first_damaged = at::empty({1}, bytes.options().dtype(at::kLong));
  const at::Tensor starts = bytes_for<SnappyStart>(bytes, fragments.size());
  const at::Tensor hops = bytes_for<SnappyHop>(bytes, tiles.size() * kSnappyTileEntries);
  const at::Tensor redo = bytes_for<uint32_t>(bytes, uploaded_pages.size());
  check_launch(cudaMemsetAsync(redo.mutable_data_ptr(), 0, redo.nbytes(), call.stream()));
  check_launch(cudaMemsetAsync(first_damaged.mutable_data_ptr(), 0, sizeof(int64_t), call.stream()));
  const SnappyBatch batch{uploaded_pages.data(),
                          uploaded_pages.size(),
                          fragments.data(),
                          fragments.size(),
                          tiles.data(),
                          tiles.size(),
                          static_cast<SnappyStart*>(starts.mutable_data_ptr()),
                          static_cast<SnappyHop*>(hops.mutable_data_ptr()),
                          static_cast<uint32_t*>(redo.mutable_data_ptr())};
  check_launch(decompress_snappy(bytes.const_data_ptr<uint8_t>(), batch, out.mutable_data_ptr<uint8_t>(),
                                 static_cast<unsigned long long*>(first_damaged.mutable_data_ptr()), call.stream()));
  return {out, first_damaged};
}

}  // namespace

REGISTER_BODY(Cuda, "snappy_decompress", snappy_decompress);

}  // namespace pistachio::kernels::cuda
