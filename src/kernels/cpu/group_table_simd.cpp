// The hash table of groups, probed in blocks of rows. The first probe takes whatever the home slot holds and collects the rows that do not
// match, without a branch per row: with few groups collisions are frequent and the branch would be mispredicted; with many groups cache
// misses overlap. The remaining rows probe the next slot in the same way or, once a new hash shows up, are inserted row by row.
#include "kernels/cpu/group_table_simd.h"

#include <algorithm>

#include "kernels/cpu/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/group_table_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pistachio::kernels::cpu::HWY_NAMESPACE {

constexpr int64_t block_rows = 256;
// Tables up to this size (1 MiB) stay in L2; for larger ones the slots of the next block are prefetched.
constexpr int64_t cached_slots = 65536;
// This few remaining rows are handled row by row.
constexpr int64_t few = 16;

struct Assigner {
  GroupSlot* HWY_RESTRICT slots;
  int64_t mask;
  int64_t groups;
  int64_t most_groups;
  const int64_t* HWY_RESTRICT hashes;
  int64_t* HWY_RESTRICT ids;         // indexed by row, not by row - begin
  int64_t* HWY_RESTRICT first_rows;  // next position to write

  // False if the row needs a new group but the limit is reached.
  HWY_INLINE bool assign_row(int64_t row) {
    const int64_t hash = hashes[row];
    int64_t at = hash & mask;
    while (slots[at].id_plus_one != 0) {
      if (slots[at].hash == hash) {
        ids[row] = slots[at].id_plus_one - 1;
        return true;
      }
      at = (at + 1) & mask;
    }
    if (groups == most_groups) return false;
    ids[row] = groups;
    slots[at] = {hash, ++groups};
    *first_rows++ = row;
    return true;
  }

  HWY_INLINE void fetch(int64_t begin, int64_t end) const {
    for (int64_t row = begin; row < end; ++row) __builtin_prefetch(slots + (hashes[row] & mask));
  }

  // Probes the home slots of the rows in [begin, end). Writes the offsets of rows that do not match to `others` and returns their number;
  // sets `met_empty` if a hash is new.
  HWY_INLINE int64_t look_up_block(int64_t begin, int64_t end, int32_t* HWY_RESTRICT others, bool& met_empty) const {
    int64_t other_count = 0, first = 0;
    met_empty = false;
#if HWY_TARGET <= HWY_AVX3
    const __m512i word_mask = _mm512_set1_epi64(2 * mask + 1), one = _mm512_set1_epi64(1);
    __m256i offsets = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    __mmask8 full = 0xff;
    for (; begin + first + 8 <= end; first += 8) {
      const __m512i hash = _mm512_loadu_si512(hashes + begin + first);
      const __m512i word = _mm512_and_si512(_mm512_add_epi64(hash, hash), word_mask);  // two words per slot
      const __m512i ids_plus_one = _mm512_i64gather_epi64(word, &slots->id_plus_one, 8);
      const __m512i found = _mm512_i64gather_epi64(word, &slots->hash, 8);
      _mm512_storeu_si512(ids + begin + first, _mm512_sub_epi64(ids_plus_one, one));
      const __mmask8 some = _mm512_test_epi64_mask(ids_plus_one, ids_plus_one);
      const __mmask8 here = _mm512_mask_cmpeq_epi64_mask(some, found, hash);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(others + other_count),
                          _mm256_maskz_compress_epi32(static_cast<__mmask8>(~here), offsets));
      other_count += 8 - __builtin_popcount(here);
      full &= some;
      offsets = _mm256_add_epi32(offsets, _mm256_set1_epi32(8));
    }
    met_empty = full != 0xff;
#endif
    bool met_more = false;
    const auto offset_at = [&](int64_t i) { return static_cast<int32_t>(first + i); };
    other_count += look_up(begin, offset_at, end - begin - first, 0, others + other_count, met_more);
    met_empty |= met_more;
    return other_count;
  }

  // The same for the rows begin + offset_at(0 .. count - 1) and the slots `distance` after their home slots. `others` may be the array that
  // offset_at() reads.
  template <typename OffsetAt>
  HWY_INLINE int64_t look_up(int64_t begin, const OffsetAt& offset_at, int64_t count, uint64_t distance, int32_t* others,
                             bool& met_empty) const {
    // Local copies: the compiler must assume that the stores below change members.
    const GroupSlot* HWY_RESTRICT table = slots;
    const int64_t* HWY_RESTRICT block_hashes = hashes + begin;
    int64_t* HWY_RESTRICT block_ids = ids + begin;
    const uint64_t slot_mask = static_cast<uint64_t>(mask);
    int64_t other_count = 0;
    bool empty = false;
    for (int64_t i = 0; i < count; ++i) {
      const int32_t offset = offset_at(i);
      const int64_t hash = block_hashes[offset];
      const GroupSlot slot = table[(static_cast<uint64_t>(hash) + distance) & slot_mask];
      block_ids[offset] = slot.id_plus_one - 1;
      others[other_count] = offset;
      other_count += (slot.hash != hash) | (slot.id_plus_one == 0);
      empty |= slot.id_plus_one == 0;
    }
    met_empty = empty;
    return other_count;
  }

  // Returns the first row that was not assigned.
  HWY_INLINE int64_t assign_block(int64_t begin, int64_t end) {
    int32_t others[block_rows + 8];  // vector stores may overrun by 8
    bool met_empty = false;
    int64_t count = look_up_block(begin, end, others, met_empty);
    for (uint64_t distance = 1; !met_empty && count > few; ++distance) {
      count = look_up(
          begin, [&](int64_t i) { return others[i]; }, count, distance, others, met_empty);
    }
    for (int64_t i = 0; i < count; ++i) {
      if (!assign_row(begin + others[i])) return begin + others[i];
    }
    return end;
  }
};

GroupProgress AssignGroups(GroupSlot* slots, int64_t capacity, int64_t groups, int64_t most_groups, const int64_t* hashes, int64_t begin,
                           int64_t end, int64_t* ids, int64_t* first_rows) {
  Assigner assigner{slots, capacity - 1, groups, most_groups, hashes, ids - begin, first_rows};
  const bool fetch_ahead = capacity > cached_slots;
  for (int64_t row = begin; row < end; row += block_rows) {
    const int64_t block_end = std::min(end, row + block_rows);
    if (fetch_ahead) assigner.fetch(block_end, std::min(end, block_end + block_rows));
    const int64_t stop = assigner.assign_block(row, block_end);
    if (stop < block_end) return {stop - begin, assigner.groups - groups};
  }
  return {end - begin, assigner.groups - groups};
}

// The old slots are ordered by the low bits of their hashes, so the new ones are written in a few ascending streams.
void EnterSlots(const GroupSlot* from, int64_t from_capacity, GroupSlot* to, int64_t to_capacity) {
  const int64_t mask = to_capacity - 1;
  for (int64_t slot = 0; slot < from_capacity; ++slot) {
    if (from[slot].id_plus_one == 0) continue;
    int64_t at = from[slot].hash & mask;
    while (to[at].id_plus_one != 0) at = (at + 1) & mask;
    to[at] = from[slot];
  }
}

}  // namespace pistachio::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pistachio::kernels::cpu {

HWY_EXPORT(AssignGroups);
HWY_EXPORT(EnterSlots);

GroupProgress assign_groups(GroupSlot* slots, int64_t capacity, int64_t groups, int64_t most_groups, const int64_t* hashes, int64_t begin,
                            int64_t end, int64_t* ids, int64_t* first_rows) {
  return HWY_DYNAMIC_DISPATCH(AssignGroups)(slots, capacity, groups, most_groups, hashes, begin, end, ids, first_rows);
}
void enter_slots(const GroupSlot* from, int64_t from_capacity, GroupSlot* to, int64_t to_capacity) {
  HWY_DYNAMIC_DISPATCH(EnterSlots)(from, from_capacity, to, to_capacity);
}

}  // namespace pistachio::kernels::cpu
#endif
