#include "memory/arena.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <new>

#include "memory/poison.h"

namespace pistachio {

namespace {

constexpr int kReserveFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

// Half of the address space that the process may still use: stacks, libraries and mapped files need some, too.
size_t usable_bytes() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return Arena::kBytes;
  size_t used_pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%zu", &used_pages) != 1) used_pages = 0;
    std::fclose(file);
  }
  const size_t used = used_pages * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t left = limit.rlim_cur > used ? limit.rlim_cur - used : 0;
  return std::min(Arena::kBytes, left / 2 / kHugePageBytes * kHugePageBytes);
}

// Maps twice the size, which contains an aligned part, and unmaps the rest.
void* reserve_whole() {
  void* reserved = mmap(nullptr, 2 * Arena::kBytes, PROT_NONE, kReserveFlags, -1, 0);
  if (reserved == MAP_FAILED) return nullptr;
  const uintptr_t begin = reinterpret_cast<uintptr_t>(reserved);
  const uintptr_t aligned = (begin + Arena::kBytes - 1) & ~(Arena::kBytes - 1);
  if (aligned > begin) munmap(reserved, aligned - begin);
  if (begin + Arena::kBytes > aligned) munmap(reinterpret_cast<void*>(aligned + Arena::kBytes), begin + Arena::kBytes - aligned);
  return reinterpret_cast<void*>(aligned);
}

// No address space to spare for alignment: tries aligned addresses downwards from where the kernel maps memory.
void* reserve_part(size_t bytes) {
  void* somewhere = mmap(nullptr, bytes, PROT_NONE, kReserveFlags, -1, 0);
  if (somewhere == MAP_FAILED) return nullptr;
  munmap(somewhere, bytes);
  uintptr_t place = reinterpret_cast<uintptr_t>(somewhere) & ~(Arena::kBytes - 1);
  for (int tries = 0; tries < 1024 && place > Arena::kBytes; ++tries, place -= Arena::kBytes) {
    void* reserved = mmap(reinterpret_cast<void*>(place), bytes, PROT_NONE, kReserveFlags | MAP_FIXED_NOREPLACE, -1, 0);
    if (reserved == reinterpret_cast<void*>(place)) return reserved;
    if (reserved != MAP_FAILED) munmap(reserved, bytes);  // a kernel without support for the flag
  }
  return nullptr;
}

}  // namespace

Arena* Arena::reserve(BlockPool& pool) {
  static_assert(size_t{kFirstDataPage} * kPageBytes >= kPageBytes + size_t{kMaxPages} * sizeof(Span*));
  static_assert(size_t{kFirstDataPage} * kPageBytes % kHugePageBytes == 0);
  const size_t bytes = usable_bytes();
  const size_t head = size_t{kFirstDataPage} * kPageBytes;
  if (bytes < 2 * head) return nullptr;
  void* base = bytes == kBytes ? reserve_whole() : reserve_part(bytes);
  if (base == nullptr) return nullptr;
  if (mprotect(base, head, PROT_READ | PROT_WRITE) != 0) {
    munmap(base, bytes);
    return nullptr;
  }
  // Fails without transparent huge pages; then small pages have to do.
  madvise(static_cast<char*>(base) + head, bytes - head, MADV_HUGEPAGE);
  return new (base) Arena(pool, static_cast<uint32_t>(bytes / kPageBytes));
}

void Arena::unmap(Arena* arena) {
  munmap(arena, size_t{arena->pages_} * kPageBytes);
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
