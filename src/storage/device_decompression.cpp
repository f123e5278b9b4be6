#include "storage/device_decompression.h"

#include <ATen/ATen.h>

#include "base/check.h"
#include "kernels/ops/snappy_decompress.h"

namespace pistachio {

namespace {

// All batches are slices of one uploaded buffer.
at::Tensor whole_buffer(const at::Tensor& slice) {
  return slice.as_strided({static_cast<int64_t>(slice.storage().nbytes())}, {1}, 0);
}

}  // namespace

DeviceDecompression::DeviceDecompression(std::span<ColumnPages* const> pages) {
  at::Tensor buffer;
  std::vector<int64_t> table;
  std::vector<PageBatch*> batches;
  for (ColumnPages* own : pages) {
    for (PageBatch* batch : {&own->dictionary, &own->data}) {
      if (batch->compressed.empty()) continue;
      if (!buffer.defined()) buffer = whole_buffer(batch->bytes);
      ENSURE(batch->bytes.is_alias_of(buffer));
      const int64_t shift = batch->bytes.storage_offset();
      for (size_t i = 0; i < batch->compressed.size(); ++i) {
        const CompressedPage& page = batch->compressed[i];
        table.insert(table.end(), {page.begin + shift, page.end + shift, page.plain_bytes, page.size});
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
    batch->bytes = bytes_.narrow(0, begin, size);
    batch->compressed.clear();
    begin += size;
  }
}

void DeviceDecompression::record_use(const c10::Stream& stream) const {
  for (const at::Tensor& tensor : {bytes_, first_damaged_}) {
    if (tensor.defined()) tensor.record_stream(stream);
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
