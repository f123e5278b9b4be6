// The page heap: runs of pages for the pooled allocator, best fit, adjacent free runs merged. Freed runs stay mapped (Cached) until
// decommit_cached(). Memory grows in steps of 2 MiB, aligned to 2 MiB, so that the operating system can back it with huge pages.
// Owned by a BlockPool. Thread-safe: one lock, taken only for large blocks and to refill slabs and thread caches.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "memory/arena.h"
#include "memory/span.h"

namespace pistachio {

// Why there are no pages: the heap's limit, or the operating system.
enum class Shortage { Limit, System };

class PageHeap {
 public:
  PageHeap(BlockPool& pool, int64_t limit_bytes) : pool_(pool), limit_bytes_(limit_bytes) {}
  // Arenas with live blocks stay mapped.
  ~PageHeap();
  PageHeap(const PageHeap&) = delete;
  PageHeap& operator=(const PageHeap&) = delete;

  // A Run or a Slab. Null if mapped bytes would exceed the limit, or the operating system has no more.
  // Null if there are no pages; `shortage` then says why.
  Span* allocate(uint32_t pages, SpanState state, int size_class, Shortage& shortage);
  void free(Span& span);
  // Unmaps all cached runs.
  void decommit_cached();

  void set_limit(int64_t limit_bytes);
  int64_t limit() const;
  int64_t mapped_bytes() const;
  int64_t peak_mapped_bytes() const;
  // In spans in state Run.
  int64_t run_bytes() const;

 private:
  struct ByPagesThenAddress {
    bool operator()(const Span* left, const Span* right) const;
  };
  using FreeSpans = std::set<Span*, ByPagesThenAddress>;

  // All under mutex_.
  static Span* find_best(const FreeSpans& spans, uint32_t pages);
  bool map_more(uint32_t pages, Shortage& shortage);
  bool add_arena();
  uint32_t pages_to_commit(const Span& vacant, uint32_t pages) const;
  Span* new_span(Arena* arena, uint32_t first_page, uint32_t pages, SpanState state);
  FreeSpans& free_spans(SpanState state) { return state == SpanState::Cached ? cached_ : vacant_; }
  // Cuts the span down to its first pages; returns the rest as a span of the same state that is in no list.
  Span* split(Span& span, uint32_t pages);
  // Merges the span with adjacent free spans of the same state and inserts the result into their list.
  void merge_and_insert(Span& span);
  void absorb(Span& span, Span& neighbour);
  void decommit(Span& span);
  void unmap_vacant_arenas();

  BlockPool& pool_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  int64_t limit_bytes_;
  int64_t mapped_bytes_ = 0;
  int64_t peak_mapped_bytes_ = 0;
  int64_t run_bytes_ = 0;
  FreeSpans cached_;
  FreeSpans vacant_;
};

}  // namespace pistachio
