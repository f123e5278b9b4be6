#include "memory/page_heap.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace pistachio {

namespace {

// Memory is mapped and unmapped in multiples of this: the largest page size of common platforms.
constexpr uint32_t kCommitPages = (size_t{64} << 10) / kPageBytes;
constexpr uint32_t kHugePages = kHugePageBytes / kPageBytes;

constexpr uint32_t round_up(uint32_t pages, uint32_t step) {
  return (pages + step - 1) / step * step;
}

}  // namespace

bool PageHeap::ByPagesThenAddress::operator()(const Span* left, const Span* right) const {
  return std::make_tuple(left->pages, left->arena, left->first_page) < std::make_tuple(right->pages, right->arena, right->first_page);
}

PageHeap::~PageHeap() {
  decommit_cached();
}

Span* PageHeap::allocate(uint32_t pages, SpanState state, int size_class, Shortage& shortage) {
  std::lock_guard lock(mutex_);
  Span* span = find_best(cached_, pages);
  if (span == nullptr) {
    if (!map_more(pages, shortage)) return nullptr;
    span = find_best(cached_, pages);
  }
  cached_.erase(span);
  if (Span* rest = split(*span, pages)) cached_.insert(rest);
  span->state = state;
  span->size_class = static_cast<int16_t>(size_class);
  if (state == SpanState::Slab) {
    span->arena->enter_all_pages(*span);
  } else {
    run_bytes_ += static_cast<int64_t>(span->bytes());
  }
  return span;
}

void PageHeap::free(Span& span) {
  std::lock_guard lock(mutex_);
  if (span.state == SpanState::Run) run_bytes_ -= static_cast<int64_t>(span.bytes());
  span.state = SpanState::Cached;
  merge_and_insert(span);
}

void PageHeap::decommit_cached() {
  std::lock_guard lock(mutex_);
  FreeSpans cached = std::exchange(cached_, {});
  for (Span* span : cached) decommit(*span);
  unmap_vacant_arenas();
}

void PageHeap::set_limit(int64_t limit_bytes) {
  std::lock_guard lock(mutex_);
  limit_bytes_ = limit_bytes;
}

int64_t PageHeap::limit() const {
  std::lock_guard lock(mutex_);
  return limit_bytes_;
}

int64_t PageHeap::mapped_bytes() const {
  std::lock_guard lock(mutex_);
  return mapped_bytes_;
}

int64_t PageHeap::peak_mapped_bytes() const {
  std::lock_guard lock(mutex_);
  return peak_mapped_bytes_;
}

int64_t PageHeap::run_bytes() const {
  std::lock_guard lock(mutex_);
  return run_bytes_;
}

Span* PageHeap::find_best(const FreeSpans& spans, uint32_t pages) {
  Span wanted;
  wanted.pages = pages;
  auto found = spans.lower_bound(&wanted);
  return found == spans.end() ? nullptr : *found;
}

bool PageHeap::map_more(uint32_t pages, Shortage& shortage) {
  pages = round_up(pages, kCommitPages);
  shortage = Shortage::System;
  Span* vacant = find_best(vacant_, pages);
  if (vacant == nullptr) {
    if (!add_arena()) return false;
    vacant = find_best(vacant_, pages);
    if (vacant == nullptr) return false;  // larger than an arena
  }
  const uint32_t committed = pages_to_commit(*vacant, pages);
  if (committed == 0) shortage = Shortage::Limit;
  if (committed == 0 || !vacant->arena->commit(vacant->first_page, committed)) return false;
  vacant_.erase(vacant);
  if (Span* rest = split(*vacant, committed)) vacant_.insert(rest);
  mapped_bytes_ += static_cast<int64_t>(vacant->bytes());
  peak_mapped_bytes_ = std::max(peak_mapped_bytes_, mapped_bytes_);
  vacant->state = SpanState::Cached;
  merge_and_insert(*vacant);
  return true;
}

// Up to the next huge page boundary; only as much as needed if that would exceed the limit; 0 if even that would.
uint32_t PageHeap::pages_to_commit(const Span& vacant, uint32_t pages) const {
  const auto allowed = [&](uint32_t count) { return static_cast<int64_t>(size_t{count} * kPageBytes) <= limit_bytes_ - mapped_bytes_; };
  const uint32_t generous = std::min(vacant.pages, round_up(vacant.first_page + pages, kHugePages) - vacant.first_page);
  if (allowed(generous)) return generous;
  return allowed(pages) ? pages : 0;
}

bool PageHeap::add_arena() {
  Arena* arena = Arena::reserve(pool_);
  if (arena == nullptr) return false;
  vacant_.insert(new_span(arena, Arena::kFirstDataPage, arena->pages() - Arena::kFirstDataPage, SpanState::Vacant));
  return true;
}

Span* PageHeap::new_span(Arena* arena, uint32_t first_page, uint32_t pages, SpanState state) {
  Span* span = new Span;  // owned through the arena's map, deleted in absorb and unmap_vacant_arenas
  span->arena = arena;
  span->first_page = first_page;
  span->pages = pages;
  span->state = state;
  arena->enter_ends(*span);
  return span;
}

Span* PageHeap::split(Span& span, uint32_t pages) {
  if (span.pages == pages) return nullptr;
  Span* rest = new_span(span.arena, span.first_page + pages, span.pages - pages, span.state);
  span.pages = pages;
  span.arena->enter_ends(span);
  return rest;
}

void PageHeap::merge_and_insert(Span& span) {
  Arena* arena = span.arena;
  if (span.first_page > Arena::kFirstDataPage) {
    Span* before = arena->span_at_page(span.first_page - 1);
    if (before->state == span.state) absorb(span, *before);
  }
  if (span.first_page + span.pages < arena->pages()) {
    Span* after = arena->span_at_page(span.first_page + span.pages);
    if (after->state == span.state) absorb(span, *after);
  }
  arena->enter_ends(span);
  free_spans(span.state).insert(&span);
}

void PageHeap::absorb(Span& span, Span& neighbour) {
  free_spans(neighbour.state).erase(&neighbour);
  span.first_page = std::min(span.first_page, neighbour.first_page);
  span.pages += neighbour.pages;
  delete &neighbour;
}

void PageHeap::decommit(Span& span) {
  const uint32_t first = round_up(span.first_page, kCommitPages);
  const uint32_t end = (span.first_page + span.pages) / kCommitPages * kCommitPages;
  if (end <= first) {
    cached_.insert(&span);  // smaller than the unit of unmapping
    return;
  }
  Span* middle = &span;
  if (first > span.first_page) {
    middle = split(span, first - span.first_page);
    cached_.insert(&span);
  }
  if (Span* rest = split(*middle, end - first)) cached_.insert(rest);
  middle->arena->decommit(middle->first_page, middle->pages);
  mapped_bytes_ -= static_cast<int64_t>(middle->bytes());
  middle->state = SpanState::Vacant;
  merge_and_insert(*middle);
}

void PageHeap::unmap_vacant_arenas() {
  std::erase_if(vacant_, [](Span* span) {
    if (span->pages != span->arena->pages() - Arena::kFirstDataPage) return false;
    Arena::unmap(span->arena);
    delete span;
    return true;
  });
}

}  // namespace pistachio
