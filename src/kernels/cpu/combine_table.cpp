// The direct-mapped table of combine_rows. Whether a row finds its key is unpredictable, so nothing branches on it: every row writes the
// old entry to the next evicted row, which the following row overwrites unless the entry was really evicted, and `keep`, all ones or zero,
// selects between merging and replacing. Common row layouts have a loop of their own with everything in registers; the others match the
// keys of a block of rows first and then merge one state column at a time, which beats a switch per row and value.
//
// Direct-mapped rather than two-way: on a Neoverse N1 two ways with LRU take 1.5 to 1.7 times as long per row, and a direct-mapped table of
// twice the size, as fast as the smaller one while it fits the same cache, merges as many rows.
#include "kernels/cpu/combine_table.h"

#include <algorithm>
#include <bit>

namespace pistachio::kernels::cpu {

namespace {

// Larger tables leave L1: entries are prefetched this many rows ahead, about as many as a core has outstanding misses.
constexpr int64_t cached_table_bytes = 32768;
constexpr int64_t prefetch_rows = 24;
constexpr int64_t line_bytes = 64;
constexpr int64_t combine_block_rows = 64;

// The compiler must not see where a value comes from: it would turn masks into branches, and addresses into scaled-index operands, with
// which Neoverse N1 ignores prefetches.
template <typename T>
[[gnu::always_inline]] inline T opaque(T value) {
  asm("" : "+r"(value));
  return value;
}

[[gnu::always_inline]] inline uint64_t ones_if(bool condition) {
  return uint64_t{0} - uint64_t{condition};
}

[[gnu::always_inline]] inline uint64_t blend(uint64_t mask, uint64_t yes, uint64_t no) {
  return no ^ ((no ^ yes) & mask);
}

[[gnu::always_inline]] inline bool less_in_sql(double left, double right) {
  return (left < right) | ((left == left) & (right != right));
}

template <MergeOp op>
[[gnu::always_inline]] inline uint64_t merge_word(uint64_t older, uint64_t newer, uint64_t keep) {
  const double left = std::bit_cast<double>(older), right = std::bit_cast<double>(newer);
  if constexpr (op == MergeOp::AddInt64) return newer + (older & keep);
  if constexpr (op == MergeOp::AddDouble) return blend(keep, std::bit_cast<uint64_t>(left + right), newer);
  if constexpr (op == MergeOp::MinInt64) {
    return blend(keep & ones_if(static_cast<int64_t>(older) <= static_cast<int64_t>(newer)), older, newer);
  }
  if constexpr (op == MergeOp::MaxInt64) {
    return blend(keep & ones_if(static_cast<int64_t>(older) >= static_cast<int64_t>(newer)), older, newer);
  }
  if constexpr (op == MergeOp::MinDouble) return blend(keep & ones_if(!less_in_sql(right, left)), older, newer);
  if constexpr (op == MergeOp::MaxDouble) return blend(keep & ones_if(!less_in_sql(left, right)), older, newer);
  if constexpr (op == MergeOp::And) return newer & (older | ~keep);
  if constexpr (op == MergeOp::Or) return newer | (older & keep);
  if constexpr (op == MergeOp::Xor) return newer ^ (older & keep);
  if constexpr (op == MergeOp::KeepFirst) return blend(keep, older, newer);
}

// {count, mean, m2}; a state without rows changes nothing.
[[gnu::always_inline]] inline void merge_moments(uint64_t* __restrict entry, const uint64_t* __restrict row, uint64_t* __restrict evicted,
                                                 uint64_t keep) {
  const uint64_t older[3] = {entry[0], entry[1], entry[2]};
  const double older_count = std::bit_cast<double>(older[0]), count = std::bit_cast<double>(row[0]);
  const double mean = std::bit_cast<double>(older[1]), distance = std::bit_cast<double>(row[1]) - mean;
  const double total = older_count + count;
  const double apart = distance * distance * (older_count * count / total);
  const double merged[3] = {total, mean + distance * (count / total),
                            std::bit_cast<double>(older[2]) + (std::bit_cast<double>(row[2]) + apart)};
  const uint64_t has_older = keep & ones_if(older_count != 0), has_both = has_older & ones_if(count != 0);
  for (int word = 0; word < 3; ++word) {
    evicted[word] = older[word];
    entry[word] = blend(has_both, std::bit_cast<uint64_t>(merged[word]), blend(has_older, older[word], row[word]));
  }
}

// Moves the old state to `evicted` and, if `keep`, merges it with the row's state, else replaces it. The top bit of the result is set if a
// sum overflows.
template <MergeOp op>
[[gnu::always_inline]] inline uint64_t merge_state(uint64_t* __restrict entry, const uint64_t* __restrict row, uint64_t* __restrict evicted,
                                                   uint64_t keep) {
  const uint64_t older = entry[0];
  evicted[0] = older;
  if constexpr (op == MergeOp::AddMoments) {
    merge_moments(entry, row, evicted, keep);
    return 0;
  } else if constexpr (op == MergeOp::AddInt128) {
    const uint64_t older_high = entry[1];
    evicted[1] = older_high;
    uint64_t low = 0;
    const uint64_t carry = __builtin_add_overflow(older & keep, row[0], &low);
    const uint64_t left = older_high & keep, right = row[1], high = left + right + carry;
    entry[0] = low;
    entry[1] = high;
    return (left ^ high) & (right ^ high);  // the sum has the sign of neither
  } else {
    entry[0] = merge_word<op>(older, row[0], keep);
    return 0;
  }
}

[[gnu::always_inline]] inline void prefetch_entry(const uint64_t* entry, int64_t width) {
  const char* first = opaque(reinterpret_cast<const char*>(entry));
  const int64_t bytes = width * static_cast<int64_t>(sizeof(uint64_t));
  __builtin_prefetch(first, 1);
  if (line_bytes % bytes == 0) return;  // entries of these sizes never cross a line
  for (int64_t at = line_bytes; at < bytes; at += line_bytes) __builtin_prefetch(first + at, 1);
  __builtin_prefetch(first + bytes - sizeof(uint64_t), 1);
}

// The slot number of a row: the top bits of its hash.
struct SlotBits {
  int shift;
  uint64_t mask;  // of these bits

  explicit SlotBits(int64_t slots) : shift(64 - std::countr_zero(static_cast<uint64_t>(slots))), mask(~uint64_t{0} << shift) {}
};

using CombineLoop = CombineProgress (*)(CombineTable table, const uint64_t* rows, int64_t count, uint64_t* evicted);

template <int64_t key_words, MergeOp... ops>
CombineProgress combine_layout(CombineTable table, const uint64_t* __restrict rows, int64_t count, uint64_t* __restrict evicted) {
  constexpr int64_t width = 1 + key_words + (merge_op_words(ops) + ... + 0);
  uint64_t* __restrict entries = table.entries;
  const SlotBits slot(table.slots);
  const uint64_t slot_mask = slot.mask;
  const int shift = slot.shift;
  uint64_t* __restrict out = evicted;
  int64_t merged = 0;
  uint64_t overflow = 0;
  const auto combine_row = [&](const uint64_t* row) __attribute__((always_inline)) {
    const uint64_t hash = row[0], tag = hash | slot_mask;
    uint64_t* entry = entries + (hash >> shift) * width;
    const uint64_t old_tag = entry[0];
    bool same = old_tag == tag;
    for (int64_t word = 1; word <= key_words; ++word) same &= entry[word] == row[word];
    const uint64_t keep = opaque(ones_if(same));
    out[0] = old_tag ^ (tag ^ hash);
    entry[0] = tag;
    for (int64_t word = 1; word <= key_words; ++word) {
      out[word] = entry[word];
      entry[word] = row[word];
    }
    [[maybe_unused]] int64_t word = 1 + key_words;
    ((overflow |= merge_state<ops>(entry + word, row + word, out + word, keep), word += merge_op_words(ops)), ...);
    out += ((old_tag & ~keep) >> 63) * width;
    merged += same;
  };
  int64_t row = 0;
  if (table.slots * width * static_cast<int64_t>(sizeof(uint64_t)) > cached_table_bytes) {
    for (; row < count - prefetch_rows; ++row) {
      prefetch_entry(entries + (rows[(row + prefetch_rows) * width] >> shift) * width, width);
      combine_row(rows + row * width);
    }
  }
  for (; row < count; ++row) combine_row(rows + row * width);
  return {(out - evicted) / width, merged, overflow >> 63 != 0};
}

// Any layout. A block of rows is matched by key and then merged column by column, each in a loop without branches.
class ColumnCombiner {
 public:
  ColumnCombiner(CombineTable table, int64_t key_words, std::span<const MergeOp> merges)
      : entries_(table.entries), slot_(table.slots), key_words_(key_words), merges_(merges) {
    width_ = 1 + key_words;
    for (const MergeOp op : merges) width_ += merge_op_words(op);
    prefetch_ = table.slots * width_ * static_cast<int64_t>(sizeof(uint64_t)) > cached_table_bytes;
  }

  CombineProgress combine(const uint64_t* rows, int64_t count, uint64_t* evicted) {
    out_ = evicted;
    for (int64_t begin = 0; begin < count; begin += combine_block_rows) {
      const int64_t size = std::min(combine_block_rows, count - begin);
      const bool fetch_next = prefetch_ && begin + 2 * size <= count;
      match_keys(rows + begin * width_, size, fetch_next ? size * width_ : 0);
      int64_t word = 1 + key_words_;
      for (const MergeOp op : merges_) {
        merge_column(op, rows + begin * width_ + word, size, word);
        word += merge_op_words(op);
      }
    }
    return {(out_ - evicted) / width_, merged_, overflow_ >> 63 != 0};
  }

 private:
  struct Match {
    uint64_t* entry;
    uint64_t* evicted;  // where the old entry goes
    uint64_t keep;
  };

  // Decides for each row between merging and replacing, and updates hash and key. Prefetches the entry of the row that is `ahead` words
  // further, unless 0. Members are copied to locals here and below: the compiler must assume that the stores change members.
  void match_keys(const uint64_t* __restrict row, int64_t count, int64_t ahead) {
    const uint64_t slot_mask = slot_.mask, width = static_cast<uint64_t>(width_);
    const int shift = slot_.shift;
    const int64_t key_words = key_words_;
    uint64_t* __restrict entries = entries_;
    uint64_t* __restrict out = out_;
    Match* __restrict match = matches_;
    uint64_t merged = 0;
    for (int64_t i = 0; i < count; ++i, row += width) {
      if (ahead != 0) prefetch_entry(entries + (row[ahead] >> shift) * width, static_cast<int64_t>(width));
      uint64_t* entry = entries + (row[0] >> shift) * width;
      const uint64_t old_tag = entry[0], tag = row[0] | slot_mask;
      uint64_t difference = old_tag ^ tag;
      out[0] = old_tag ^ (tag ^ row[0]);
      entry[0] = tag;
      for (int64_t word = 1; word <= key_words; ++word) {
        const uint64_t key = entry[word];
        difference |= key ^ row[word];
        out[word] = key;
        entry[word] = row[word];
      }
      const uint64_t keep = opaque(ones_if(difference == 0));
      *match++ = {entry, out, keep};
      out += ((old_tag & ~keep) >> 63) * width;
      merged -= keep;
    }
    out_ = out;
    merged_ += static_cast<int64_t>(merged);
  }

  template <MergeOp op>
  void merge_one_column(const uint64_t* __restrict row, int64_t count, int64_t word) {
    const int64_t width = width_;
    const Match* __restrict match = matches_;
    uint64_t overflow = 0;
    for (int64_t i = 0; i < count; ++i, ++match, row += width) {
      overflow |= merge_state<op>(match->entry + word, row, match->evicted + word, match->keep);
    }
    overflow_ |= overflow;
  }

  void merge_column(MergeOp op, const uint64_t* row, int64_t count, int64_t word) {
    switch (op) {
      case MergeOp::AddInt64: return merge_one_column<MergeOp::AddInt64>(row, count, word);
      case MergeOp::AddInt128: return merge_one_column<MergeOp::AddInt128>(row, count, word);
      case MergeOp::AddDouble: return merge_one_column<MergeOp::AddDouble>(row, count, word);
      case MergeOp::MinInt64: return merge_one_column<MergeOp::MinInt64>(row, count, word);
      case MergeOp::MaxInt64: return merge_one_column<MergeOp::MaxInt64>(row, count, word);
      case MergeOp::MinDouble: return merge_one_column<MergeOp::MinDouble>(row, count, word);
      case MergeOp::MaxDouble: return merge_one_column<MergeOp::MaxDouble>(row, count, word);
      case MergeOp::And: return merge_one_column<MergeOp::And>(row, count, word);
      case MergeOp::Or: return merge_one_column<MergeOp::Or>(row, count, word);
      case MergeOp::Xor: return merge_one_column<MergeOp::Xor>(row, count, word);
      case MergeOp::KeepFirst: return merge_one_column<MergeOp::KeepFirst>(row, count, word);
      case MergeOp::AddMoments: return merge_one_column<MergeOp::AddMoments>(row, count, word);
    }
  }

  uint64_t* entries_;
  SlotBits slot_;
  int64_t key_words_, width_;
  std::span<const MergeOp> merges_;
  bool prefetch_;
  uint64_t* out_ = nullptr;
  int64_t merged_ = 0;
  uint64_t overflow_ = 0;
  Match matches_[combine_block_rows];  // of the rows of the block
};

struct CommonLayout {
  int64_t key_words;
  int64_t merge_count;
  MergeOp merges[2];
  CombineLoop loop;

  bool matches(int64_t keys, std::span<const MergeOp> ops) const {
    return keys == key_words && std::equal(ops.begin(), ops.end(), merges, merges + merge_count);
  }
};

template <int64_t key_words, MergeOp... ops>
constexpr CommonLayout common_layout() {
  return {key_words, sizeof...(ops), {ops...}, &combine_layout<key_words, ops...>};
}

constexpr MergeOp counted = MergeOp::AddInt64;  // or a sum known to fit
// DISTINCT, COUNT, SUM and AVG of integers and doubles, MIN and MAX, STDDEV and VARIANCE; by a key that the hash identifies and by a key of
// one word.
constexpr CommonLayout common_layouts[] = {
    common_layout<0>(),
    common_layout<1>(),
    common_layout<2>(),
    common_layout<0, counted>(),
    common_layout<1, counted>(),
    common_layout<0, counted, counted>(),
    common_layout<1, counted, counted>(),
    common_layout<0, MergeOp::AddInt128>(),
    common_layout<1, MergeOp::AddInt128>(),
    common_layout<0, MergeOp::AddInt128, counted>(),
    common_layout<1, MergeOp::AddInt128, counted>(),
    common_layout<0, MergeOp::AddDouble, counted>(),
    common_layout<1, MergeOp::AddDouble, counted>(),
    common_layout<0, MergeOp::AddMoments>(),
    common_layout<1, MergeOp::AddMoments>(),
    common_layout<0, MergeOp::MinInt64>(),
    common_layout<1, MergeOp::MinInt64>(),
    common_layout<0, MergeOp::MaxInt64>(),
    common_layout<1, MergeOp::MaxInt64>(),
    common_layout<0, MergeOp::MinDouble>(),
    common_layout<1, MergeOp::MinDouble>(),
    common_layout<0, MergeOp::MaxDouble>(),
    common_layout<1, MergeOp::MaxDouble>(),
};

}  // namespace

CombineProgress combine_into(CombineTable table, const uint64_t* rows, int64_t count, int64_t key_words, std::span<const MergeOp> merges,
                             uint64_t* evicted) {
  for (const CommonLayout& layout : common_layouts) {
    if (layout.matches(key_words, merges)) return layout.loop(table, rows, count, evicted);
  }
  return ColumnCombiner(table, key_words, merges).combine(rows, count, evicted);
}

namespace {

// Slots inspected before the chosen ones are copied: few enough for their entries to stay in L1.
constexpr int64_t take_block_slots = 256;

// `words` 0: as many as `width` says. Whether a slot is taken is unpredictable, so the numbers of all are written, and the next one
// overwrites those that are not. Only the tag is cleared: the rest of an empty slot is never read.
template <int64_t words>
int64_t take_rows_of(CombineTable table, int64_t width, const EntryChoice& chosen, uint64_t* __restrict rows) {
  const SlotBits bits(table.slots);
  const int64_t count = words > 0 ? words : width;
  uint64_t* out = rows;
  uint16_t taken[take_block_slots];
  for (int64_t first = chosen.begin; first < chosen.end; first += take_block_slots) {
    const int64_t slots = std::min(take_block_slots, chosen.end - first);
    uint64_t* __restrict block = table.entries + first * count;
    int64_t takes = 0;
    for (int64_t slot = 0; slot < slots; ++slot) {
      const uint64_t tag = block[slot * count];
      taken[takes] = static_cast<uint16_t>(slot);
      takes += (tag != 0) & ((tag & chosen.low_mask) == chosen.value);
    }
    for (int64_t i = 0; i < takes; ++i, out += count) {
      uint64_t* entry = block + taken[i] * count;
      out[0] = (entry[0] & ~bits.mask) | static_cast<uint64_t>(first + taken[i]) << bits.shift;
      entry[0] = 0;
      for (int64_t word = 1; word < count; ++word) out[word] = entry[word];
    }
  }
  return (out - rows) / count;
}

}  // namespace

int64_t take_entries(CombineTable table, int64_t width, const EntryChoice& chosen, uint64_t* rows) {
  switch (width) {
    case 1: return take_rows_of<1>(table, width, chosen, rows);
    case 2: return take_rows_of<2>(table, width, chosen, rows);
    case 4: return take_rows_of<4>(table, width, chosen, rows);
    default: return take_rows_of<0>(table, width, chosen, rows);
  }
}

}  // namespace pistachio::kernels::cpu
