// CPU bodies of join_build and join_sort_part: a counting sort by bucket. Large tables take two passes, first into partitions of the table
// that fit L2, then each partition by bucket, so that scattered writes stay in cache. The first pass writes to the partition's final place
// and the second copies it out first: a second buffer for all rows would cost more than the copy.

#include <algorithm>
#include <bit>
#include <vector>

#include "kernels/cpu/line_scatter.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/stop_flag.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

namespace {

// Up to this many buckets (about one row each: 1.5 MiB of offsets, rows and hashes) one pass is faster.
constexpr int64_t one_pass_bits = 16;
// Buckets of a partition: its offsets, rows and hashes take a quarter of a megabyte.
constexpr int64_t bits_in_part = 13;
// More partitions than this would thrash the TLB; the partitions grow beyond the cache instead.
constexpr int64_t most_parts_bits = 11;

// The `bits` bits of a hash that follow its top `above` bits.
struct TopBits {
  int64_t above, bits;
  int64_t operator()(uint64_t hash) const { return bits == 0 ? 0 : static_cast<int64_t>(hash << above >> (64 - bits)); }
};

// Row sources: all valid rows, or the rows of one partition.
struct AllRows {
  const uint64_t* hashes;
  const bool* validity;
  int64_t rows;
  StopCheck stop;
  template <typename Each>
  void for_each(const Each& each) const {
    for_each_strip(rows, stop, [&](int64_t begin, int64_t end) {
      if (validity == nullptr) {
        for (int64_t row = begin; row < end; ++row) each(hashes[row], row);
      } else {
        for (int64_t row = begin; row < end; ++row) {
          if (validity[row]) each(hashes[row], row);
        }
      }
    });
  }
};
struct PartRows {
  const uint64_t* hashes;
  const int64_t* part_rows;
  int64_t count;
  template <typename Each>
  void for_each(const Each& each) const {
    for (int64_t i = 0; i < count; ++i) each(hashes[i], part_rows[i]);
  }
};

// Sets cursors[b] to the position of bucket b's first row, starting at `place`; returns the end of the last bucket.
template <typename Rows>
int64_t find_places(const Rows& source, TopBits bucket_of, int64_t place, int64_t* cursors) {
  const int64_t buckets = int64_t{1} << bucket_of.bits;
  std::fill_n(cursors, buckets, int64_t{0});
  source.for_each([&](uint64_t hash, int64_t) { ++cursors[bucket_of(hash)]; });
  for (int64_t bucket = 0; bucket < buckets; ++bucket) {
    const int64_t count = cursors[bucket];
    cursors[bucket] = place;
    place += count;
  }
  return place;
}

// Sorts rows by bucket into positions from `place`. offsets[1..] serve as cursors, which end up at the ends of their buckets.
template <typename Rows>
void sort_buckets(const Rows& source, TopBits bucket_of, int64_t place, int64_t* offsets, int64_t* order, uint64_t* ordered_hashes) {
  int64_t* cursors = offsets + 1;
  find_places(source, bucket_of, place, cursors);
  source.for_each([&](uint64_t hash, int64_t row) {
    const int64_t at = cursors[bucket_of(hash)]++;
    order[at] = row;
    ordered_hashes[at] = hash;
  });
}

// Sorts the rows [begin, end) of one partition by bucket. The vectors are scratch space.
struct PartSorter {
  int64_t* offsets;
  int64_t* order;
  uint64_t* hashes;
  std::vector<uint64_t> part_hashes = {};
  std::vector<int64_t> part_rows = {};

  void sort(TopBits bucket_of, int64_t part, int64_t begin, int64_t end) {
    part_hashes.assign(hashes + begin, hashes + end);
    part_rows.assign(order + begin, order + end);
    const PartRows source{part_hashes.data(), part_rows.data(), end - begin};
    sort_buckets(source, bucket_of, begin, offsets + (part << bucket_of.bits), order, hashes);
  }
};

std::tuple<at::Tensor, at::Tensor, at::Tensor> join_build(const at::Tensor& hashes, const std::optional<at::Tensor>& validity,
                                                          int64_t bits, const std::optional<at::Tensor>& stop) {
  const StopCheck check(stop);
  const AllRows all{reinterpret_cast<const uint64_t*>(hashes.const_data_ptr<int64_t>()),
                    validity ? validity->const_data_ptr<bool>() : nullptr, hashes.numel(), check};
  const int64_t rows = validity ? std::count(all.validity, all.validity + all.rows, true) : all.rows;
  at::Tensor offsets = at::empty({(int64_t{1} << bits) + 1}, at::kLong);
  at::Tensor order = at::empty({rows}, at::kLong), ordered_hashes = at::empty({rows}, at::kLong);
  int64_t* offset_words = offsets.mutable_data_ptr<int64_t>();
  int64_t* order_words = order.mutable_data_ptr<int64_t>();
  uint64_t* hash_words = reinterpret_cast<uint64_t*>(ordered_hashes.mutable_data_ptr<int64_t>());
  offset_words[0] = 0;
  if (bits <= one_pass_bits) {
    sort_buckets(all, TopBits{0, bits}, 0, offset_words, order_words, hash_words);
    return {offsets, order, ordered_hashes};
  }

  const TopBits part_of{0, std::min(bits - bits_in_part, most_parts_bits)};
  const TopBits bucket_of{part_of.bits, bits - part_of.bits};
  std::vector<int64_t> begins(size_t{1} << part_of.bits);
  find_places(all, part_of, 0, begins.data());
  LineScatter rows_by_part(reinterpret_cast<uint64_t*>(order_words), begins), hashes_by_part(hash_words, begins);
  all.for_each([&](uint64_t hash, int64_t row) {
    const size_t part = static_cast<size_t>(part_of(hash));
    rows_by_part.put(part, static_cast<uint64_t>(row));
    hashes_by_part.put(part, hash);
  });
  rows_by_part.finish();
  hashes_by_part.finish();
  PartSorter sorter{offset_words, order_words, hash_words};
  for (size_t part = 0; part < begins.size(); ++part) {
    check();
    sorter.sort(bucket_of, static_cast<int64_t>(part), begins[part], part + 1 < begins.size() ? begins[part + 1] : rows);
  }
  return {offsets, order, ordered_hashes};
}

void join_sort_part(at::Tensor& offsets, at::Tensor& order, at::Tensor& hashes, int64_t part_bits, int64_t part, int64_t begin,
                    int64_t end) {
  const int64_t bits = std::countr_zero(static_cast<uint64_t>(offsets.numel() - 1));
  PartSorter sorter{offsets.mutable_data_ptr<int64_t>(), order.mutable_data_ptr<int64_t>(),
                    reinterpret_cast<uint64_t*>(hashes.mutable_data_ptr<int64_t>())};
  sorter.sort(TopBits{part_bits, bits - part_bits}, part, begin, end);
}

}  // namespace

REGISTER_BODY(Cpu, "join_build", join_build);
REGISTER_BODY(Cpu, "join_sort_part", join_sort_part);

}  // namespace pistachio::kernels::cpu
