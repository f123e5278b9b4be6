// Probing the hash table of a join. Rows are processed in batches, in steps with at most one cache miss per row, so that the misses of a
// batch overlap: find the buckets, then compare the hashes.
// Most buckets hold up to four rows, unpredictably many: the first four positions are compared without a branch on the bucket's size.
// Positions of other buckets do no harm, since their hashes differ in the top bits.
#include "kernels/cpu/join_table_simd.h"

#include <algorithm>

#include "kernels/cpu/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/join_table_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pistachio::kernels::cpu::HWY_NAMESPACE {

// Bit i is set if hashes[i] equals `hash`.
HWY_INLINE uint32_t match_places(const int64_t* hashes, int64_t hash) {
#if HWY_TARGET <= HWY_AVX2
  const __m256i found = _mm256_cmpeq_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(hashes)), _mm256_set1_epi64x(hash));
  return static_cast<uint32_t>(_mm256_movemask_pd(_mm256_castsi256_pd(found)));
#else
  uint32_t matches = 0;
  for (uint32_t place = 0; place < join_width; ++place) matches |= static_cast<uint32_t>(hashes[place] == hash) << place;
  return matches;
#endif
}

template <bool has_nulls>
HWY_INLINE int64_t start_rows(const JoinTable& table, const int64_t* HWY_RESTRICT probe_hashes, const bool* HWY_RESTRICT validity,
                              int64_t begin, int64_t end, JoinSearch* HWY_RESTRICT searches) {
  const JoinTable local = table;
  int64_t count = 0;
  for (int64_t row = begin; row < end; ++row) {
    const int64_t hash = probe_hashes[row];
    searches[count].row = row;
    searches[count].hash = hash;
    __builtin_prefetch(local.offsets + local.bucket_of(hash));
    count += has_nulls ? validity[row] : 1;
  }
  for (int64_t i = 0; i < count; ++i) {
    const int64_t* bounds = local.offsets + local.bucket_of(searches[i].hash);
    const int64_t first = std::min(bounds[0], local.rows - join_width);
    searches[i].first = first;
    searches[i].last = bounds[1];
    __builtin_prefetch(local.hashes + first);
    __builtin_prefetch(local.hashes + first + join_width - 1);
  }
  return count;
}

int64_t StartSearches(const JoinTable& table, const int64_t* probe_hashes, const bool* validity, int64_t begin, int64_t end,
                      JoinSearch* searches) {
  return validity == nullptr ? start_rows<false>(table, probe_hashes, validity, begin, end, searches)
                             : start_rows<true>(table, probe_hashes, validity, begin, end, searches);
}

JoinProgress FindPairs(const JoinTable& table, const JoinSearch* HWY_RESTRICT searches, int64_t count, int64_t pairs, int64_t most_pairs,
                       int64_t* HWY_RESTRICT rows, int64_t* HWY_RESTRICT places) {
  const int64_t* HWY_RESTRICT hashes = table.hashes;
  int64_t i = 0;
  for (; i < count && pairs < most_pairs; ++i) {
    const JoinSearch search = searches[i];
    if (search.last > search.first + join_width) [[unlikely]]
      break;
    uint32_t matches = match_places(hashes + search.first, search.hash);
    // Usually there is at most one match: write the pair unconditionally, count it if it matched.
    rows[pairs] = search.row;
    places[pairs] = search.first + __builtin_ctz(matches | 1u << join_width);
    pairs += matches != 0;
    for (matches &= matches - 1; matches != 0; matches &= matches - 1) {
      rows[pairs] = search.row;
      places[pairs++] = search.first + __builtin_ctz(matches);
    }
  }
  return {i, pairs};
}

}  // namespace pistachio::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pistachio::kernels::cpu {

HWY_EXPORT(StartSearches);
HWY_EXPORT(FindPairs);

int64_t start_searches(const JoinTable& table, const int64_t* probe_hashes, const bool* validity, int64_t begin, int64_t end,
                       JoinSearch* searches) {
  return HWY_DYNAMIC_DISPATCH(StartSearches)(table, probe_hashes, validity, begin, end, searches);
}
JoinProgress find_pairs(const JoinTable& table, const JoinSearch* searches, int64_t count, int64_t pairs, int64_t most_pairs, int64_t* rows,
                        int64_t* places) {
  return HWY_DYNAMIC_DISPATCH(FindPairs)(table, searches, count, pairs, most_pairs, rows, places);
}

}  // namespace pistachio::kernels::cpu
#endif
