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

// A host tensor to be replaced by its device copy.
struct Piece {
  at::Tensor* tensor;
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
  auto add = [&](at::Tensor& tensor) {
    if (!tensor.defined()) return;
    const int64_t begin = tensor.storage_offset();
    pieces.push_back({&tensor, tensor.storage().data(), begin, begin + tensor.numel()});
  };
  for (ColumnPages* own : pages) {
    add(own->dictionary.bytes);
    add(own->data.bytes);
    add(own->wanted);
  }
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece& left, const Piece& right) { return std::tie(left.slab, left.begin) < std::tie(right.slab, right.begin); });
  return pieces;
}

}  // namespace

at::Tensor upload_pages(std::span<ColumnPages* const> pages, at::Device device) {
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
  for (const Piece& piece : pieces) *piece.tensor = buffer.narrow(0, piece.target, piece.end - piece.begin);
  return buffer;
}

}  // namespace pistachio
