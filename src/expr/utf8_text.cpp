#include "expr/utf8_text.h"

#include "expr/two_way_search.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace pistachio {

#ifdef __SSE2__
namespace {

// Which of 16 positions match both the first and the last byte of the needle.
unsigned candidates(const char* first_at, const char* last_at, __m128i first, __m128i last) {
  __m128i front = _mm_cmpeq_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(first_at)), first);
  __m128i back = _mm_cmpeq_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(last_at)), last);
  return static_cast<unsigned>(_mm_movemask_epi8(_mm_and_si128(front, back)));
}

}  // namespace
#endif

namespace {

// A mismatch within this many bytes is cheap; longer failed comparisons are counted.
constexpr int64_t kFreeComparison = 64;

// The first occurrence among `places` positions from `at`. Once failed comparisons exceed 8 times the bytes passed, the rest up to `end` is
// searched in guaranteed linear time; returning `end` then means that the needle is not there either.
// memmem builds a table per call, which costs more than searching a short value.
template <typename Poll>
const char* search_places(const char* at, int64_t places, const char* end, std::string_view needle, Poll& poll) {
  const char* begin = at;
  int64_t length = static_cast<int64_t>(needle.size());
  size_t first_bytes = static_cast<size_t>(std::min(length, kFreeComparison));
  int64_t wasted = 0;
#ifdef __SSE2__
  if (places >= 16) {
    __m128i first = _mm_set1_epi8(needle.front());
    __m128i last = _mm_set1_epi8(needle.back());
    const char* final_block = at + places - 16;
    while (true) {
      for (unsigned found = candidates(at, at + length - 1, first, last); found != 0; found &= found - 1) {
        const char* place = at + __builtin_ctz(found);
        if (std::memcmp(place, needle.data(), first_bytes) != 0) continue;
        if (length <= kFreeComparison || std::memcmp(place, needle.data(), needle.size()) == 0) return place;
        wasted += length;
        if (wasted > 8 * (place - begin + length)) {
          const char* later = find_two_way(place, end, needle, poll);
          return later == nullptr ? end : later;
        }
      }
      if (at == final_block) return nullptr;
      at = std::min(at + 16, final_block);  // the last block overlaps the one before it
    }
  }
#endif
  for (const char* last_place = at + places; at < last_place; ++at) {
    if (*at != needle.front() || std::memcmp(at, needle.data(), first_bytes) != 0) continue;
    if (length <= kFreeComparison || std::memcmp(at, needle.data(), needle.size()) == 0) return at;
    wasted += length;
    if (wasted > 8 * (at - begin + length)) {
      const char* later = find_two_way(at, end, needle, poll);
      return later == nullptr ? end : later;
    }
  }
  return nullptr;
}

}  // namespace

const char* find_bytes(const char* at, const char* end, std::string_view needle, NoPoll& poll) {
  if (needle.empty()) return at;
  int64_t places = end - at - static_cast<int64_t>(needle.size()) + 1;
  if (places <= 0) return nullptr;
  const char* found = search_places(at, places, end, needle, poll);
  return found == end ? nullptr : found;
}

const char* find_bytes(const char* at, const char* end, std::string_view needle, WorkPoll& poll) {
  if (needle.empty()) return at;
  int64_t left = end - at - static_cast<int64_t>(needle.size()) + 1;
  while (left > 0) {
    int64_t places = std::min(left, kBytesPerPoll);
    const char* found = search_places(at, places, end, needle, poll);
    if (found == end) return nullptr;
    // A found needle was compared in full, and callers that continue from there may compare it again.
    poll(found == nullptr ? places : std::min<int64_t>(found - at, places) + static_cast<int64_t>(needle.size()));
    if (found != nullptr) return found;
    at += places;
    left -= places;
  }
  return nullptr;
}

}  // namespace pistachio
