#include "expr/utf8_text.h"

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

// memmem builds a table per call, which costs more than searching a short value.
const char* find_bytes(const char* at, const char* end, std::string_view needle) {
  if (needle.empty()) return at;
  int64_t length = static_cast<int64_t>(needle.size());
  int64_t places = end - at - length + 1;
  if (places <= 0) return nullptr;
#ifdef __SSE2__
  if (places >= 16) {
    __m128i first = _mm_set1_epi8(needle.front());
    __m128i last = _mm_set1_epi8(needle.back());
    const char* final_block = at + places - 16;
    while (true) {
      for (unsigned found = candidates(at, at + length - 1, first, last); found != 0; found &= found - 1) {
        const char* place = at + __builtin_ctz(found);
        if (std::memcmp(place, needle.data(), needle.size()) == 0) return place;
      }
      if (at == final_block) return nullptr;
      at = std::min(at + 16, final_block);  // the last block overlaps the one before it
    }
  }
#endif
  for (const char* last_place = at + places; at < last_place; ++at) {
    if (*at == needle.front() && std::memcmp(at, needle.data(), needle.size()) == 0) return at;
  }
  return nullptr;
}

}  // namespace pistachio
