// An arena: up to 64 GiB of address space, aligned to 64 GiB, from which the pooled allocator maps memory piece by piece. If address space
// is limited (ulimit -v), an arena takes half of what is left. The alignment lets an address be masked to find its arena without any
// global table: c10's deleters only get an address, from which a block freed on any thread must find its allocator. The first pages hold
// this object and the map from pages to spans. Owned by a PageHeap, whose lock guards changes; of() and span_at() need no lock for live
// blocks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "memory/size_classes.h"
#include "memory/span.h"

namespace pistachio {

class BlockPool;

inline constexpr size_t kHugePageBytes = size_t{2} << 20;

class Arena {
 public:
  static constexpr size_t kBytes = size_t{64} << 30;
  static constexpr uint32_t kMaxPages = kBytes / kPageBytes;
  // The map takes 128 MiB of address space; only the parts in use become memory.
  static constexpr uint32_t kFirstDataPage = (size_t{130} << 20) / kPageBytes;

  static constexpr size_t kLargestBlock = kBytes - size_t{kFirstDataPage} * kPageBytes;

  // Null if the operating system has no address space left.
  static Arena* reserve(BlockPool& pool);
  static void unmap(Arena* arena);
  static Arena* of(const void* address) { return reinterpret_cast<Arena*>(reinterpret_cast<uintptr_t>(address) & ~(kBytes - 1)); }

  BlockPool& pool() const { return *pool_; }
  uint32_t pages() const { return pages_; }
  char* address(uint32_t page) { return reinterpret_cast<char*>(this) + size_t{page} * kPageBytes; }
  Span* span_at(const void* address_in_it) { return map()[page_of(address_in_it)]; }
  Span* span_at_page(uint32_t page) { return map()[page]; }
  // The first and last page of a span are always in the map; the pages between only for slabs, whose blocks can start anywhere.
  void enter_ends(Span& span);
  void enter_all_pages(Span& span);

  // Makes pages usable; false if the operating system has no memory.
  bool commit(uint32_t first_page, uint32_t pages);
  // Returns their memory to the system, keeps the addresses.
  void decommit(uint32_t first_page, uint32_t pages);

 private:
  Arena(BlockPool& pool, uint32_t pages) : pool_(&pool), pages_(pages) {}
  uint32_t page_of(const void* inside) const {
    return static_cast<uint32_t>((reinterpret_cast<uintptr_t>(inside) & (kBytes - 1)) / kPageBytes);
  }
  Span** map() { return reinterpret_cast<Span**>(address(1)); }

  BlockPool* const pool_;
  const uint32_t pages_;
};

}  // namespace pistachio
