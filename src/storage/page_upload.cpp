#include "storage/page_upload.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "kernels/ops/host_memory.h"
#include "kernels/ops/tensor_functions.h"
#include "storage/mapped_files.h"

namespace pistachio {

namespace {

// Gaps between neighbours in a slab contain page headers, or bytes read across; they are copied too, since a separate copy takes longer.
// In a mapped file they may contain other columns; copying 64 KB takes as long as the overhead of a separate copy.
constexpr int64_t kLargestGap = 16 << 10;
constexpr int64_t kLargestMappedGap = 64 << 10;
constexpr int64_t kUploadAlignment = 64;

// A range of a slab, or of a mapped file, to be replaced by its device copy.
struct Piece {
  at::Tensor* tensor;
  PageBatch* batch;  // null: the piece is the whole tensor
  const void* slab;
  int64_t begin;  // offset in the slab
  int64_t end;
  int64_t target = 0;  // offset in the device buffer

  bool is_mapped() const { return batch != nullptr && batch->is_mapped; }
  int64_t largest_gap() const { return is_mapped() ? kLargestMappedGap : kLargestGap; }
};

struct StagedCopy {
  at::Tensor source;
  int64_t target;
};

std::vector<Piece> pieces_of(std::span<ColumnPages* const> pages) {
  std::vector<Piece> pieces;
  auto add = [&](PageBatch& batch) {
    if (!batch.bytes.defined()) return;
    const int64_t offset = batch.bytes.storage_offset();
    pieces.push_back({&batch.bytes, &batch, batch.bytes.storage().data(), offset + batch.begin, offset + batch.end});
  };
  for (ColumnPages* own : pages) {
    add(own->dictionary);
    add(own->data);
    if (!own->wanted.defined()) continue;
    const int64_t offset = own->wanted.storage_offset();
    pieces.push_back({&own->wanted, nullptr, own->wanted.storage().data(), offset, offset + own->wanted.numel()});
  }
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece& left, const Piece& right) { return std::tie(left.slab, left.begin) < std::tie(right.slab, right.begin); });
  return pieces;
}

// Copies from a mapped file, as kernels::upload_ranges() takes them.
class MappedCopies {
 public:
  void add(const void* file, int64_t begin, int64_t end, int64_t target) {
    while (begin < end) {
      const int64_t stop = std::min(end, (begin / MappedFiles::kBlockBytes + 1) * MappedFiles::kBlockBytes);
      const auto address = reinterpret_cast<intptr_t>(static_cast<const uint8_t*>(file) + begin);
      rows_.insert(rows_.end(), {static_cast<int64_t>(address), stop - begin, target});
      target += stop - begin;
      begin = stop;
    }
  }

  void enqueue(const at::Tensor& buffer) const {
    kernels::upload_ranges(buffer, at::tensor(rows_, at::kLong).view({static_cast<int64_t>(rows_.size() / 3), 3}));
  }

 private:
  std::vector<int64_t> rows_;
};

}  // namespace

void upload_pages(std::span<ColumnPages* const> pages, at::Device device) {
  std::vector<Piece> pieces = pieces_of(pages);
  std::vector<StagedCopy> copies;
  MappedCopies mapped;
  int64_t total = 0;
  for (size_t first = 0; first < pieces.size();) {
    const Piece& begin = pieces[first];
    int64_t end = begin.end;
    size_t last = first;
    for (; last < pieces.size() && pieces[last].slab == begin.slab && pieces[last].begin <= end + begin.largest_gap(); ++last) {
      pieces[last].target = total + pieces[last].begin - begin.begin;
      end = std::max(end, pieces[last].end);
    }
    if (begin.is_mapped()) {
      mapped.add(begin.slab, begin.begin, end, total);
    } else {
      copies.push_back({begin.tensor->as_strided({end - begin.begin}, {1}, begin.begin), total});
    }
    total += (end - begin.begin + kUploadAlignment - 1) / kUploadAlignment * kUploadAlignment;
    first = last;
  }
  const at::Tensor buffer = at::empty({total}, at::TensorOptions(at::kByte).device(device));
  mapped.enqueue(buffer);
  for (const StagedCopy& copy : copies) buffer.narrow(0, copy.target, copy.source.numel()).copy_(copy.source, /*non_blocking=*/true);
  for (const Piece& piece : pieces) {
    if (piece.batch == nullptr) {
      *piece.tensor = buffer.narrow(0, piece.target, piece.end - piece.begin);
      continue;
    }
    piece.batch->bytes = buffer;
    piece.batch->begin = piece.target;
    piece.batch->end = piece.target + piece.end - piece.begin;
    piece.batch->is_mapped = false;
  }
}

}  // namespace pistachio
