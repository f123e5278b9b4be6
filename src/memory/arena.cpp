#include "memory/arena.h"

#include <sys/mman.h>

#include <new>

#include "memory/poison.h"

namespace pistachio {

Arena* Arena::reserve(BlockPool& pool) {
  static_assert(size_t{kFirstDataPage} * kPageBytes >= kPageBytes + size_t{kPages} * sizeof(Span*));
  static_assert(size_t{kFirstDataPage} * kPageBytes % kHugePageBytes == 0);
  // Twice the size, so that an aligned part is inside; the rest goes back.
  void* reserved = mmap(nullptr, 2 * kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return nullptr;
  const uintptr_t begin = reinterpret_cast<uintptr_t>(reserved);
  const uintptr_t aligned = (begin + kBytes - 1) & ~(kBytes - 1);
  if (aligned > begin) munmap(reserved, aligned - begin);
  if (begin + kBytes > aligned) munmap(reinterpret_cast<void*>(aligned + kBytes), begin + kBytes - aligned);

  const size_t head = size_t{kFirstDataPage} * kPageBytes;
  void* base = reinterpret_cast<void*>(aligned);
  if (mprotect(base, head, PROT_READ | PROT_WRITE) != 0) {
    munmap(base, kBytes);
    return nullptr;
  }
  // Without transparent huge pages this fails, and the memory is what it is.
  madvise(reinterpret_cast<void*>(aligned + head), kBytes - head, MADV_HUGEPAGE);
  return new (base) Arena(pool);
}

void Arena::unmap(Arena* arena) {
  munmap(arena, kBytes);
}

void Arena::enter_ends(Span& span) {
  map()[span.first_page] = &span;
  map()[span.first_page + span.pages - 1] = &span;
}

void Arena::enter_all_pages(Span& span) {
  for (uint32_t i = 0; i < span.pages; ++i) map()[span.first_page + i] = &span;
}

bool Arena::commit(uint32_t first_page, uint32_t pages) {
  return mprotect(address(first_page), size_t{pages} * kPageBytes, PROT_READ | PROT_WRITE) == 0;
}

void Arena::decommit(uint32_t first_page, uint32_t pages) {
  unpoison(address(first_page), size_t{pages} * kPageBytes);
  madvise(address(first_page), size_t{pages} * kPageBytes, MADV_DONTNEED);
  mprotect(address(first_page), size_t{pages} * kPageBytes, PROT_NONE);
}

}  // namespace pistachio
