#include "storage/device_decompression.h"

#include "base/check.h"
#include "kernels/ops/snappy_decompress.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

DeviceDecompression::DeviceDecompression(std::span<ColumnPages* const> pages) {
  at::Tensor buffer;
  std::vector<int64_t> table;
  std::vector<PageBatch*> batches;
  for (ColumnPages* own : pages) {
    for (PageBatch* batch : {&own->dictionary, &own->data}) {
      if (batch->compressed.empty()) continue;
      if (!buffer.defined()) buffer = batch->bytes;
      ENSURE(batch->bytes.is_same(buffer));
      for (size_t i = 0; i < batch->compressed.size(); ++i) {
        const CompressedPage& page = batch->compressed[i];
        table.insert(table.end(), {batch->begin + page.begin, batch->begin + page.end, page.plain_bytes, page.size});
        sources_.push_back({own, &batch->pages[i], page.size});
      }
      batches.push_back(batch);
    }
  }
  if (batches.empty()) return;
  const at::Tensor page_table = at::tensor(table, at::kLong).view({-1, 4});
  std::tie(bytes_, first_damaged_) = kernels::snappy_decompress(buffer, page_table);
  int64_t begin = 0;
  for (PageBatch* batch : batches) {
    int64_t size = 0;
    for (const CompressedPage& page : batch->compressed) size += page.size;
    batch->bytes = bytes_;
    batch->begin = begin;
    batch->end = begin + size;
    batch->compressed.clear();
    begin += size;
  }
}

void DeviceDecompression::check() const {
  if (!first_damaged_.defined()) return;
  const int64_t damaged = first_damaged_.item<int64_t>();
  if (damaged == 0) return;
  const Source& source = sources_[static_cast<size_t>(-1 - damaged)];
  DataLocation where = source.unit->where;
  where.offset = source.page->file_offset;
  throw damaged_snappy_page(static_cast<size_t>(source.size), where);
}

}  // namespace pistachio
