#include "storage/page_upload.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <tuple>
#include <vector>

namespace pistachio {

namespace {

// Between neighbours in a slab lie page headers, or bytes that were read across; such gaps are copied too, since another copy takes longer.
constexpr int64_t kLargestGap = 16 << 10;
constexpr int64_t kAlignment = 64;

// A range of a slab to be replaced by its device copy.
struct Piece {
  at::Tensor* tensor;
  int64_t* range_begin;  // in the tensor; null: the piece is the whole tensor
  int64_t* range_end;
  const void* slab;
  int64_t begin;  // offset in the slab
  int64_t end;
  int64_t target = 0;  // offset in the device buffer
};

struct Copy {
  at::Tensor source;
  int64_t target;
};

std::vector<Piece> pieces_of(std::span<ColumnPages* const> pages) {
  std::vector<Piece> pieces;
  auto add = [&](PageBatch& batch) {
    if (!batch.bytes.defined()) return;
    const int64_t offset = batch.bytes.storage_offset();
    pieces.push_back({&batch.bytes, &batch.begin, &batch.end, batch.bytes.storage().data(), offset + batch.begin, offset + batch.end});
  };
  for (ColumnPages* own : pages) {
    add(own->dictionary);
    add(own->data);
    if (!own->wanted.defined()) continue;
    const int64_t offset = own->wanted.storage_offset();
    pieces.push_back({&own->wanted, nullptr, nullptr, own->wanted.storage().data(), offset, offset + own->wanted.numel()});
  }
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece& left, const Piece& right) { return std::tie(left.slab, left.begin) < std::tie(right.slab, right.begin); });
  return pieces;
}

}  // namespace

void upload_pages(std::span<ColumnPages* const> pages, at::Device device) {
  std::vector<Piece> pieces = pieces_of(pages);
  std::vector<Copy> copies;
  int64_t total = 0;
  for (size_t first = 0; first < pieces.size();) {
    const Piece& begin = pieces[first];
    int64_t end = begin.end;
    size_t last = first;
    for (; last < pieces.size() && pieces[last].slab == begin.slab && pieces[last].begin <= end + kLargestGap; ++last) {
      pieces[last].target = total + pieces[last].begin - begin.begin;
      end = std::max(end, pieces[last].end);
    }
    const at::Tensor& source = *begin.tensor;
    copies.push_back({source.as_strided({end - begin.begin}, {1}, begin.begin), total});
    total += (end - begin.begin + kAlignment - 1) / kAlignment * kAlignment;
    first = last;
  }
  const at::Tensor buffer = at::empty({total}, at::TensorOptions(at::kByte).device(device));
  for (const Copy& copy : copies) buffer.narrow(0, copy.target, copy.source.numel()).copy_(copy.source, /*non_blocking=*/true);
  for (const Piece& piece : pieces) {
    if (piece.range_begin == nullptr) {
      *piece.tensor = buffer.narrow(0, piece.target, piece.end - piece.begin);
      continue;
    }
    *piece.tensor = buffer;
    *piece.range_begin = piece.target;
    *piece.range_end = piece.target + piece.end - piece.begin;
  }
}

}  // namespace pistachio
