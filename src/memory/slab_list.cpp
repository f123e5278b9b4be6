#include "memory/slab_list.h"

#include <algorithm>
#include <bit>

namespace pistachio {

namespace {

constexpr size_t kSmallestSlab = size_t{64} << 10;
constexpr size_t kMinBlocksOfSlab = 8;

void* take_block(Span& span) {
  const size_t block_bytes = size_of_class(span.size_class);
  for (size_t word = 0;; ++word) {
    uint64_t& bits = span.slab.free_bits[word];
    if (bits == 0) continue;
    const size_t block = word * 64 + static_cast<size_t>(std::countr_zero(bits));
    bits &= bits - 1;
    --span.slab.free_blocks;
    return span.arena->address(span.first_page) + block * block_bytes;
  }
}

void give_block(Span& span, const void* address) {
  const size_t offset = static_cast<size_t>(static_cast<const char*>(address) - span.arena->address(span.first_page));
  const size_t block = offset / size_of_class(span.size_class);
  span.slab.free_bits[block / 64] |= uint64_t{1} << (block % 64);
  ++span.slab.free_blocks;
}

}  // namespace

uint32_t SlabList::pages_of_slab(int size_class) {
  const size_t bytes = std::max(kSmallestSlab, kMinBlocksOfSlab * size_of_class(size_class));
  return static_cast<uint32_t>((bytes + kPageBytes - 1) / kPageBytes);
}

size_t SlabList::take(std::span<void*> blocks) {
  std::lock_guard lock(mutex_);
  size_t taken = 0;
  while (taken < blocks.size() && !with_free_blocks_.empty()) {
    Span* slab = *with_free_blocks_.begin();
    if (slab == kept_empty_) kept_empty_ = nullptr;
    while (taken < blocks.size() && slab->slab.free_blocks > 0) blocks[taken++] = take_block(*slab);
    if (slab->slab.free_blocks == 0) with_free_blocks_.erase(slab);
  }
  blocks_out_ += static_cast<int64_t>(taken);
  return taken;
}

void SlabList::add_slab(Span& span) {
  const size_t blocks = std::min(span.bytes() / size_of_class(span.size_class), kMaxBlocksInSlab);
  span.slab = SlabState{};
  span.slab.blocks = span.slab.free_blocks = static_cast<uint32_t>(blocks);
  for (size_t i = 0; i < blocks; ++i) span.slab.free_bits[i / 64] |= uint64_t{1} << (i % 64);
  std::lock_guard lock(mutex_);
  with_free_blocks_.insert(&span);
}

void SlabList::give_back(std::span<void* const> blocks, PageHeap& heap) {
  std::lock_guard lock(mutex_);
  blocks_out_ -= static_cast<int64_t>(blocks.size());
  for (void* block : blocks) {
    Span* slab = Arena::of(block)->span_at(block);
    give_block(*slab, block);
    if (slab->slab.free_blocks == 1) with_free_blocks_.insert(slab);
    if (slab->slab.free_blocks < slab->slab.blocks) continue;
    if (kept_empty_ == nullptr) {
      kept_empty_ = slab;
    } else {
      with_free_blocks_.erase(slab);
      heap.free(*slab);
    }
  }
}

void SlabList::release_empty_slabs(PageHeap& heap) {
  std::lock_guard lock(mutex_);
  kept_empty_ = nullptr;
  std::erase_if(with_free_blocks_, [&](Span* slab) {
    if (slab->slab.free_blocks < slab->slab.blocks) return false;
    heap.free(*slab);
    return true;
  });
}

int64_t SlabList::blocks_out() const {
  std::lock_guard lock(mutex_);
  return blocks_out_;
}

}  // namespace pistachio
