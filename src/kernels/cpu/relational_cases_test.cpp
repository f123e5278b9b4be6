// Random calls of the operations behind joins, aggregations and sorts. Calls modify their state, so it is copied first.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "kernels/cpu/kernel_cases.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/bounds_below.h"
#include "kernels/ops/combine_rows.h"
#include "kernels/ops/compare_columns.h"
#include "kernels/ops/compare_to_groups.h"
#include "kernels/ops/gather_rows.h"
#include "kernels/ops/group_assign.h"
#include "kernels/ops/join_build.h"
#include "kernels/ops/join_probe.h"
#include "kernels/ops/key_bitmap.h"
#include "kernels/ops/key_filter.h"
#include "kernels/ops/key_ranks.h"
#include "kernels/ops/partition_rows.h"
#include "kernels/ops/radix_scatter.h"
#include "kernels/ops/rank_probe.h"
#include "kernels/ops/route_rows.h"
#include "kernels/ops/segment_bits.h"
#include "kernels/ops/segment_extreme.h"
#include "kernels/ops/segment_moments.h"
#include "kernels/ops/segment_sketch.h"
#include "kernels/ops/segment_sum.h"
#include "kernels/ops/sort_order.h"
#include "kernels/ops/tensor_functions.h"
#include "kernels/ops/text_ranks.h"

namespace pistachio::kernels::kernel_cases {

namespace {

using test_streams::Random;
using test_streams::uniform;

template <typename Next>
at::Tensor words(Draw& draw, int64_t rows, const Next& next) {
  at::Tensor tensor = at::empty({rows}, at::kLong);
  int64_t* out = tensor.mutable_data_ptr<int64_t>();
  for (int64_t row = 0; row < rows; ++row) out[row] = next(row);
  return disguise(draw, tensor);
}

int64_t random_below(Random& random, int64_t limit) {
  return static_cast<int64_t>(random() % static_cast<uint64_t>(limit));
}

// Hashes of many or few keys; for few rows sometimes adversarial ones with equal top or low bits.
at::Tensor random_hashes(Draw& draw, int64_t rows, int64_t keys) {
  const int64_t kind = rows <= 5000 ? uniform(draw.random, 0, 5) : 0;
  const uint64_t seed = uint64_t{0x9e3779b97f4a7c15};
  return words(draw, rows, [&](int64_t) {
    const uint64_t key = draw.random() % static_cast<uint64_t>(keys);
    if (kind == 1) return static_cast<int64_t>(key);
    if (kind == 2) return static_cast<int64_t>(key << 40);
    uint64_t hash = (key + 1) * seed;
    hash = (hash ^ hash >> 32) * seed;
    return static_cast<int64_t>(hash ^ hash >> 29);
  });
}

int64_t draw_key_count(Draw& draw) {
  const int64_t counts[] = {1, 3, 50, draw.rows / 3 + 1, 8 * draw.rows + 1};
  return counts[draw.random() % 5];
}

int64_t draw_group_count(Draw& draw) {
  const int64_t counts[] = {1, 2, 7, 64, 65, 511, 513, 5000, 100000};
  return counts[draw.random() % (draw.rows < 1000 ? 7 : 9)];
}

// Random, or clustered as in sorted input.
at::Tensor random_ids(Draw& draw, int64_t rows, int64_t groups) {
  const int64_t stretch = uniform(draw.random, 0, 2) == 0 ? 20 : 1;
  int64_t id = 0;
  return words(draw, rows, [&](int64_t) {
    if (random_below(draw.random, stretch) == 0) id = random_below(draw.random, groups);
    return id;
  });
}

// Sometimes nearly all rows in the first group.
at::Tensor skewed_ids(Draw& draw, int64_t rows, int64_t groups) {
  if (uniform(draw.random, 0, 2) > 0) return random_ids(draw, rows, groups);
  return words(draw, rows, [&](int64_t) { return draw.random() % 16 == 0 ? random_below(draw.random, groups) : 0; });
}

Call draw_gather_rows(Draw& draw) {
  const int64_t sizes[] = {0, 1, 5, 1000, 3000000};
  const int64_t size = sizes[draw.random() % (draw.rows < 100000 ? 4 : 5)];
  const at::Tensor values = random_values(draw, size, true);
  const bool with_none = size == 0 || uniform(draw.random, 0, 1) == 0;
  const at::Tensor rows = words(
      draw, draw.rows, [&](int64_t) { return with_none && (size == 0 || draw.random() % 4 == 0) ? -1 : random_below(draw.random, size); });
  return [=]() -> std::vector<at::Tensor> { return {gather_rows(values, rows)}; };
}

Call draw_partition(Draw& draw) {
  const at::Tensor hashes = random_hashes(draw, draw.rows, draw_key_count(draw));
  const int64_t bits = uniform(draw.random, 0, 12);
  return [=]() -> std::vector<at::Tensor> {
    auto [order, offsets] = partition_rows(hashes, bits);
    return {order, offsets};
  };
}

// Two chunks into the same output, as rows of one batch.
Call draw_radix_scatter(Draw& draw) {
  const at::Tensor hashes = random_hashes(draw, draw.rows, draw_key_count(draw));
  const at::Tensor values = random_values(draw, draw.rows, true);
  const int64_t parts = int64_t{1} << uniform(draw.random, 0, 12), middle = draw.rows / 3, rows = draw.rows;
  return [=]() -> std::vector<at::Tensor> {
    at::Tensor counts = at::zeros({parts}, at::TensorOptions(at::kLong).device(hashes.device()));
    radix_count(counts, hashes.slice(0, 0, middle));
    const at::Tensor first = counts.clone();
    radix_count(counts, hashes.slice(0, middle));
    const at::Tensor places = counts.cumsum(0) - counts;
    at::Tensor out = at::zeros_like(values, at::MemoryFormat::Contiguous);
    radix_scatter(out, values.slice(0, 0, middle), hashes.slice(0, 0, middle), places);
    radix_scatter(out, values.slice(0, middle, rows), hashes.slice(0, middle), places + first);
    return {counts, out};
  };
}

Call draw_key_filter(Draw& draw) {
  const at::Tensor added = random_hashes(draw, draw.rows, draw_key_count(draw));
  const at::Tensor tested = random_hashes(draw, draw.rows, draw_key_count(draw));
  const int64_t count = int64_t{1} << uniform(draw.random, 1, 12);
  const at::Device device = draw.device;
  return [=]() -> std::vector<at::Tensor> {
    at::Tensor filter = at::zeros({count}, at::TensorOptions(at::kLong).device(device));
    key_filter_add(filter, added);
    return {filter, key_filter_test(filter, added), key_filter_test(filter, tested)};
  };
}

// Integers of a range anywhere, and tested ones in and around it, or far away.
Call draw_key_bitmap(Draw& draw) {
  const int64_t count = uniform(draw.random, 1, 300);
  const int64_t leasts[] = {0, -64, 6400, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max() - 64 * 300};
  const int64_t least = leasts[draw.random() % 5];
  const at::ScalarType type = least == std::clamp<int64_t>(least, -64, 6400) ? (draw.random() % 2 == 0 ? at::kInt : at::kShort) : at::kLong;
  const int64_t rows = uniform(draw.random, 0, draw.rows);
  const at::Tensor added = disguise(draw, (at::randint(64 * count, {rows}, at::kLong) + least).to(type));
  const at::Tensor near = at::randint(64 * count + 200, {draw.rows}, at::kLong) + static_cast<int64_t>(static_cast<uint64_t>(least) - 100);  // may wrap
  const at::Tensor tested = disguise(draw, near.to(type));
  const at::Device device = draw.device;
  return [=]() -> std::vector<at::Tensor> {
    at::Tensor words = at::zeros({count}, at::TensorOptions(at::kLong).device(device));
    key_bitmap_add(words, added, least);
    return {words, key_bitmap_test(words, added, least), key_bitmap_test(words, tested, least)};
  };
}

// Integers of a range, some of them added by several calls, and others in and around it, or far away.
struct RankedKeys {
  int64_t least, words;
  at::Tensor added, added_validity, tested, tested_validity;

  at::Tensor ranks() const {
    at::Tensor ranks = at::zeros({2 * words}, added.options().dtype(at::kLong));
    const int64_t half = added.size(0) / 2;
    for (const auto& [begin, end] : {std::pair{int64_t{0}, half}, {half, added.size(0)}}) {
      const at::Tensor valid = added_validity.defined() ? added_validity.slice(0, begin, end) : at::Tensor();
      add_key_ranks(ranks, added.slice(0, begin, end), valid, least);
    }
    return ranks;
  }
};

RankedKeys draw_ranked_keys(Draw& draw) {
  const int64_t count = uniform(draw.random, 1, 300);
  const int64_t leasts[] = {0, -100, 6400, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max() - 64 * 300};
  const int64_t least = leasts[draw.random() % 5];
  const at::ScalarType type =
      least == std::clamp<int64_t>(least, -100, 6400) ? (draw.random() % 2 == 0 ? at::kInt : at::kShort) : at::kLong;
  const int64_t rows = uniform(draw.random, 0, draw.rows);
  const bool is_sorted = draw.random() % 3 == 0;
  at::Tensor added = at::randint(64 * count, {rows}, at::kLong) + least;
  if (is_sorted) added = std::get<0>(added.sort());
  const at::Tensor near =
      at::randint(64 * count + 200, {draw.rows}, at::kLong) + static_cast<int64_t>(static_cast<uint64_t>(least) - 100);  // may wrap
  return {least,
          count,
          disguise(draw, added.to(type)),
          optional_mask(draw, rows),
          disguise(draw, near.to(type)),
          optional_mask(draw, draw.rows)};
}

Call draw_key_ranks(Draw& draw) {
  const RankedKeys keys = draw_ranked_keys(draw);
  return [=]() -> std::vector<at::Tensor> {
    at::Tensor ranks = keys.ranks();
    const int64_t distinct = close_key_ranks(ranks);
    const at::Tensor of_added = find_key_ranks(ranks, keys.added, keys.added_validity, keys.least);
    EXPECT_EQ(of_added.ge(0).sum().item<int64_t>(),
              keys.added_validity.defined() ? keys.added_validity.sum().item<int64_t>() : keys.added.size(0));
    return {ranks, at::tensor({distinct}, at::kLong), of_added, find_key_ranks(ranks, keys.tested, keys.tested_validity, keys.least),
            has_key_ranks(ranks, keys.tested, keys.tested_validity, keys.least)};
  };
}

// Unique keys, in any order or in that of their values, of a set that may have more of them.
Call draw_place_by_rank(Draw& draw) {
  const int64_t rows = uniform(draw.random, 0, draw.rows), more = draw.random() % 2 == 0 ? uniform(draw.random, 1, 1000) : 0;
  const int64_t step = uniform(draw.random, 1, 70), least = uniform(draw.random, -1000, 1000), first = uniform(draw.random, 0, 1000);
  at::Tensor numbers = draw.random() % 2 == 0 ? at::arange(rows, at::kLong) : at::randperm(rows, at::kLong);
  const at::Tensor values = disguise(draw, numbers * step + least), all = disguise(draw, at::arange(rows + more, at::kLong) * step + least);
  const at::Tensor validity = optional_mask(draw, rows);
  const bool is_in_order = more == 0 && first == 0 && !validity.defined() && at::equal(numbers, at::arange(rows, at::kLong));
  return [=]() -> std::vector<at::Tensor> {
    at::Tensor ranks = at::zeros({2 * ((rows + more) * step / 64 + 1)}, all.options());
    add_key_ranks(ranks, all, {}, least);
    at::Tensor order = at::full({close_key_ranks(ranks)}, -1, all.options().dtype(at::kInt));
    const bool was_in_order = place_by_rank(order, ranks, values, validity, least, first);
    EXPECT_TRUE(was_in_order || !is_in_order);
    return {order, at::tensor({int64_t{was_in_order}}, at::kLong)};
  };
}

// Owners round-robin, in runs, at random or a single one; some ranks own nothing.
Call draw_route(Draw& draw) {
  const at::Tensor hashes = random_hashes(draw, draw.rows, draw_key_count(draw));
  const int64_t bits = uniform(draw.random, 0, 16), kind = uniform(draw.random, 0, 3);
  const int64_t counts[] = {1, 2, 3, 8, 500, 65536};
  const int64_t ranks = counts[draw.random() % 6];
  const int64_t only = random_below(draw.random, ranks);
  at::Tensor owners = words(draw, int64_t{1} << bits, [&](int64_t bucket) {
    if (kind == 0) return bucket % ranks;
    if (kind == 1) return bucket * ranks >> bits;
    return kind == 2 ? random_below(draw.random, ranks) : only;
  });
  if (uniform(draw.random, 0, 1) == 0) owners = owners.to(at::kInt);
  return [=]() -> std::vector<at::Tensor> {
    auto [order, offsets] = route_rows(hashes, owners, ranks);
    return {order, offsets};
  };
}

// Calls until all rows are assigned; grows a full table.
Call draw_group_assign(Draw& draw) {
  const at::Tensor hashes = random_hashes(draw, draw.rows, draw_key_count(draw));
  const int64_t capacity = int64_t{1} << uniform(draw.random, draw.rows > 100000 ? 8 : 1, 12);
  const int64_t begin = std::min(draw.rows, uniform(draw.random, 0, 3));
  const bool to_the_brim = uniform(draw.random, 0, 1) == 0;
  const at::Device device = draw.device;
  return [=]() -> std::vector<at::Tensor> {
    at::Tensor slots = at::zeros({capacity, 2}, at::TensorOptions(at::kLong).device(device));
    std::vector<at::Tensor> ids, first_rows;
    int64_t groups = 0;
    for (int64_t row = begin; row < hashes.size(0);) {
      const int64_t most_groups = std::max(groups, to_the_brim ? slots.size(0) / 2 : slots.size(0) / 4);
      auto [some_ids, some_rows] = group_assign(slots, groups, most_groups, hashes, row);
      ids.push_back(some_ids);
      first_rows.push_back(some_rows);
      groups += some_rows.size(0);
      row += some_ids.size(0);
      if (row < hashes.size(0)) slots = group_rehash(slots, slots.size(0) * (to_the_brim ? 2 : 8));
    }
    if (ids.empty()) return {slots};
    return {slots, kernels::concatenate_tensors(ids), kernels::concatenate_tensors(first_rows)};
  };
}

// Half of them common ones, which have a loop of their own.
std::vector<MergeOp> random_merges(Draw& draw) {
  const std::vector<MergeOp> common[] = {{},
                                         {MergeOp::AddInt64},
                                         {MergeOp::AddInt64, MergeOp::AddInt64},
                                         {MergeOp::AddInt128},
                                         {MergeOp::AddInt128, MergeOp::AddInt64},
                                         {MergeOp::AddDouble, MergeOp::AddInt64},
                                         {MergeOp::AddMoments}};
  if (uniform(draw.random, 0, 1) == 0) return common[draw.random() % std::size(common)];
  std::vector<MergeOp> merges(draw.random() % 5);
  for (MergeOp& op : merges) op = static_cast<MergeOp>(random_below(draw.random, merge_op_count));
  return merges;
}

// Doubles or, unless they are to be added, also other words: the order in which bodies add NaNs of different bits is unspecified.
int64_t random_state_word(Draw& draw, bool only_doubles) {
  const double numbers[] = {0.0, -0.0, 1.5, -2.25, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()};
  switch (only_doubles ? 3 : draw.random() % 8) {
    case 0: return static_cast<int64_t>(draw.random() >> 4);
    case 1: return -1;
    case 2: return static_cast<int64_t>(draw.random() % 1000);
    default: return std::bit_cast<int64_t>(numbers[draw.random() % 6]);
  }
}

// Finite ones: which NaN a body computes is unspecified.
int64_t* random_moments(Draw& draw, int64_t* out) {
  const int64_t count = uniform(draw.random, 0, 3);
  for (const int64_t eighths : {8 * count, uniform(draw.random, -100, 100), uniform(draw.random, 0, 100)})
    *out++ = std::bit_cast<int64_t>(count == 0 ? 0.0 : static_cast<double>(eighths) / 8);
  return out;
}

// Two batches through one table, then the rest of it. Keys are determined by their hash, or several share one. Sums of 128 bits may
// overflow, which is an error.
Call draw_combine_rows(Draw& draw) {
  const std::vector<MergeOp> merges = random_merges(draw);
  const int64_t key_words = uniform(draw.random, 0, 3), keys_per_hash = uniform(draw.random, 1, 2);
  const bool small_sums = uniform(draw.random, 0, 7) != 0;
  int64_t width = 1 + key_words;
  for (const MergeOp op : merges) width += merge_op_words(op);
  const at::Tensor hashes = random_hashes(draw, draw.rows, draw_key_count(draw)).cpu().contiguous();
  at::Tensor rows = at::empty({draw.rows, width}, at::kLong);
  for (int64_t row = 0; row < draw.rows; ++row) {
    int64_t* out = rows.mutable_data_ptr<int64_t>() + row * width;
    *out++ = hashes.const_data_ptr<int64_t>()[row];
    for (int64_t word = 0; word < key_words; ++word) *out++ = random_below(draw.random, keys_per_hash);
    for (const MergeOp op : merges) {
      if (op == MergeOp::AddMoments) {
        out = random_moments(draw, out);
        continue;
      }
      *out++ = random_state_word(draw, op == MergeOp::AddDouble);
      if (op == MergeOp::AddInt128) *out++ = small_sums ? uniform(draw.random, -2, 2) : random_state_word(draw, false);
    }
  }
  rows = disguise(draw, rows);
  const int64_t slots = int64_t{1} << uniform(draw.random, 1, 14), middle = draw.rows / 3;
  return [=]() -> std::vector<at::Tensor> {
    at::Tensor table = at::zeros({slots, width}, rows.options());
    auto [first, first_merged] = combine_rows(table, rows.slice(0, 0, middle), key_words, merges);
    auto [second, second_merged] = combine_rows(table, rows.slice(0, middle), key_words, merges);
    const at::Tensor content = table.clone(), rest = combine_flush(table);
    return {first, second, content, rest, table, at::tensor({first_merged, second_merged}, at::kLong)};
  };
}

Call draw_segment_count(Draw& draw) {
  const int64_t groups = draw_group_count(draw);
  const at::Tensor ids = random_ids(draw, draw.rows, groups), validity = optional_mask(draw, draw.rows);
  const at::Tensor state = random_ids(draw, groups, 100);
  return [=]() -> std::vector<at::Tensor> {
    at::Tensor counts = state.clone(at::MemoryFormat::Contiguous);
    segment_count(counts, ids, validity);
    return {counts};
  };
}

// Two-word sums may reach the limit of 128 bits, which is an error; one-word sums never get close.
at::Tensor random_sums(Draw& draw, int64_t groups) {
  at::Tensor sums = at::empty({groups, 2}, at::kLong);
  for (int64_t group = 0; group < groups; ++group) {
    sums.mutable_data_ptr<int64_t>()[2 * group] = static_cast<int64_t>(draw.random());
    sums.mutable_data_ptr<int64_t>()[2 * group + 1] = uniform(draw.random, -2, 2);
  }
  return sums.to(draw.device);
}

Call draw_segment_sum(Draw& draw) {
  const int64_t groups = draw_group_count(draw);
  at::Tensor values;
  do values = random_values(draw, draw.rows, true);
  while (values.is_floating_point());
  const at::Tensor ids = random_ids(draw, draw.rows, groups), validity = optional_mask(draw, draw.rows);
  const at::Tensor state = random_sums(draw, groups);
  return [=]() -> std::vector<at::Tensor> {
    at::Tensor sums = state.clone();
    const bool fit = sums_fit(sums, values, validity);
    segment_sum(sums, ids, values, validity, fit);
    return {sums, at::tensor({int64_t{fit}}, at::kLong)};
  };
}

at::Tensor random_floats_only(Draw& draw, int64_t rows) {
  at::Tensor values;
  do values = random_values(draw, rows, false);
  while (!values.is_floating_point());
  return values;
}

Call draw_segment_sum_float(Draw& draw) {
  const int64_t groups = draw_group_count(draw);
  const at::Tensor values = random_floats_only(draw, draw.rows);
  const at::Tensor ids = random_ids(draw, draw.rows, groups), validity = optional_mask(draw, draw.rows);
  const at::Tensor state = random_ids(draw, groups, 1000).to(at::kDouble).contiguous();
  return [=]() -> std::vector<at::Tensor> {
    at::Tensor sums = state.clone();
    segment_sum_float(sums, ids, values, validity);
    return {sums};
  };
}

Call draw_segment_moments(Draw& draw) {
  const int64_t groups = draw_group_count(draw);
  const at::Tensor values = random_floats_only(draw, draw.rows);
  const at::Tensor ids = random_ids(draw, draw.rows, groups), validity = optional_mask(draw, draw.rows);
  const at::Tensor group_ids = random_ids(draw, groups, groups);
  return [=]() -> std::vector<at::Tensor> {
    at::Tensor moments = at::zeros({groups, 3}, values.options().dtype(at::kDouble));
    segment_moments(moments, ids, values, validity);
    at::Tensor merged = moments.clone();
    moments_merge(merged, group_ids, moments);
    at::Tensor merged_into_none = at::zeros_like(moments);
    moments_merge(merged_into_none, group_ids, moments);
    return {moments, merged, merged_into_none};
  };
}

Call draw_segment_extreme(Draw& draw) {
  const int64_t groups = draw_group_count(draw);
  const at::Tensor values = random_values(draw, draw.rows, true);
  const at::Tensor ids = random_ids(draw, draw.rows, groups), validity = optional_mask(draw, draw.rows);
  const bool take_max = uniform(draw.random, 0, 1) == 1;
  const at::Tensor already = random_mask(draw, groups);
  return [=]() -> std::vector<at::Tensor> {
    at::Tensor best = is_wide(values) ? at::full({groups, 2}, 1, values.options()) : at::full({groups}, 1, values.options());
    at::Tensor seen = already.clone(at::MemoryFormat::Contiguous);
    segment_extreme(best, seen, ids, values, take_max, validity);
    return {best, seen};
  };
}

Call draw_segment_bits(Draw& draw) {
  const int64_t groups = draw_group_count(draw);
  at::Tensor values;
  do values = random_values(draw, draw.rows, false);
  while (!at::isIntegralType(values.scalar_type(), /*includeBool=*/false));
  const at::Tensor ids = skewed_ids(draw, draw.rows, groups), validity = optional_mask(draw, draw.rows);
  const BitOp op = static_cast<BitOp>(uniform(draw.random, 0, 2));
  const at::Tensor already = random_mask(draw, groups);
  return [=]() -> std::vector<at::Tensor> {
    at::Tensor bits = at::full({groups}, 90, values.options());
    at::Tensor seen = already.clone(at::MemoryFormat::Contiguous);
    segment_bits(bits, seen, ids, values, op, validity);
    return {bits.masked_fill(seen.logical_not(), 0), seen};
  };
}

// Few sketches: each has thousands of registers.
Call draw_segment_sketch(Draw& draw) {
  const int64_t sketches = uniform(draw.random, 1, 5), others = uniform(draw.random, 0, 12);
  const at::Tensor hashes = random_hashes(draw, draw.rows, draw_key_count(draw));
  const at::Tensor ids = skewed_ids(draw, draw.rows, sketches), rows = random_ids(draw, others, sketches);
  return [=]() -> std::vector<at::Tensor> {
    at::Tensor registers = at::zeros({sketches, sketch_registers}, hashes.options().dtype(at::kByte));
    segment_sketch(registers, ids, hashes);
    segment_sketch(registers, ids, hashes.bitwise_not());
    at::Tensor merged = at::zeros_like(registers);
    sketch_merge(merged, rows, registers.index_select(0, rows));
    sketch_merge(merged, rows, registers.index_select(0, rows.flip(0)));
    return {registers, merged, sketch_sums(registers)};
  };
}

struct TextDraw {
  at::Tensor bytes, begins, ends;
};

// Short values of few distinct bytes, zeros included, so that many are equal, prefixes of others or differ only in length; sometimes with a
// long common prefix; sometimes sharing the bytes of another row.
TextDraw draw_text(Draw& draw, int64_t rows) {
  Random& random = draw.random;
  const char* prefixes[] = {"", "Customer", "a prefix of 24 characters"};
  const std::string prefix = prefixes[random() % 3];
  const int64_t longest = uniform(random, 0, 30), letters = uniform(random, 1, 4);
  test_streams::Bytes bytes;
  at::Tensor begins = at::empty({rows}, at::kLong), ends = at::empty({rows}, at::kLong);
  int64_t* from = begins.mutable_data_ptr<int64_t>();
  int64_t* to = ends.mutable_data_ptr<int64_t>();
  for (int64_t row = 0; row < rows; ++row) {
    if (row > 0 && random() % 8 == 0) {
      const int64_t other = random_below(random, row);
      from[row] = from[other];
      to[row] = to[other];
      continue;
    }
    from[row] = static_cast<int64_t>(bytes.size());
    if (random() % 16 != 0) bytes.insert(bytes.end(), prefix.begin(), prefix.end());
    for (int64_t i = uniform(random, 0, longest); i > 0; --i) bytes.push_back(static_cast<uint8_t>(random_below(random, letters) * 85));
    to[row] = static_cast<int64_t>(bytes.size());
  }
  return {bytes_tensor(draw, bytes), disguise(draw, begins), disguise(draw, ends)};
}

// Groups as group_assign numbers them: from first_new on, in order of their first rows, whose keys they have.
Call draw_compare_to_groups(Draw& draw) {
  const int64_t old_groups = uniform(draw.random, 1, 1 + draw.rows);
  std::vector<int64_t> first_rows;
  const at::Tensor numbers = at::empty({draw.rows}, at::kLong);
  for (int64_t row = 0; row < draw.rows; ++row) {
    const bool is_new = uniform(draw.random, 0, 2) == 0;
    const int64_t groups = old_groups + static_cast<int64_t>(first_rows.size());
    numbers.mutable_data_ptr<int64_t>()[row] = is_new ? groups : random_below(draw.random, groups);
    if (is_new) first_rows.push_back(row);
  }
  const at::Tensor ids = disguise(draw, numbers), already = random_mask(draw, draw.rows);
  const at::Tensor old_rows = random_ids(draw, old_groups, std::max<int64_t>(draw.rows, 1)).contiguous();
  const at::Tensor rows_of_groups = kernels::concatenate_tensors({old_rows, at::tensor(first_rows, old_rows.options())});
  at::Tensor values = random_values(draw, draw.rows, true);
  if (uniform(draw.random, 0, 1) == 0) values = values.index_select(0, at::arange(draw.rows, old_rows.options()).remainder(3));
  const TextDraw text = draw_text(draw, draw.rows);
  return [=]() -> std::vector<at::Tensor> {
    if (ids.numel() == 0) return {};
    at::Tensor equal = already.clone(at::MemoryFormat::Contiguous), equal_texts = equal.clone();
    const bool same = compare_to_groups(equal, ids, old_groups, values.index_select(0, rows_of_groups), values);
    const at::Tensor begins = text.begins.index_select(0, rows_of_groups), ends = text.ends.index_select(0, rows_of_groups);
    const bool same_texts =
        compare_to_groups_text(equal_texts, ids, old_groups, {text.bytes, begins, ends}, {text.bytes, text.begins, text.ends});
    return {equal, equal_texts, at::tensor({int64_t{same}, int64_t{same_texts}}, at::kLong)};
  };
}

Call draw_segment_extreme_text(Draw& draw) {
  const int64_t groups = draw_group_count(draw);
  const TextDraw text = draw_text(draw, draw.rows);
  const at::Tensor ids = random_ids(draw, draw.rows, groups), validity = optional_mask(draw, draw.rows);
  const bool take_max = uniform(draw.random, 0, 1) == 1;
  return [=]() -> std::vector<at::Tensor> {
    return {segment_extreme_text(text.bytes, text.begins, text.ends, ids, groups, take_max, validity)};
  };
}

Call draw_join_build(Draw& draw) {
  const at::Tensor hashes = random_hashes(draw, draw.rows, draw_key_count(draw)), validity = optional_mask(draw, draw.rows);
  return [=]() -> std::vector<at::Tensor> {
    auto [offsets, order, ordered_hashes] = join_build(hashes, validity);
    return {offsets, order, ordered_hashes};
  };
}

// As join_build, in partitions.
Call draw_join_sort_part(Draw& draw) {
  const at::Tensor hashes = random_hashes(draw, draw.rows, draw_key_count(draw));
  const int64_t bits = join_bucket_bits(draw.rows), part_bits = uniform(draw.random, 0, std::min<int64_t>(bits, 11));
  const auto options = at::TensorOptions(at::kLong).device(draw.device);
  return [=]() -> std::vector<at::Tensor> {
    at::Tensor counts = at::zeros({int64_t{1} << part_bits}, options);
    radix_count(counts, hashes);
    const at::Tensor ends = counts.cumsum(0), places = ends - counts;
    at::Tensor order = at::zeros({hashes.size(0)}, options), ordered_hashes = at::zeros_like(order);
    radix_scatter(order, at::arange(hashes.size(0), options), hashes, places);
    radix_scatter(ordered_hashes, hashes, hashes, places);
    at::Tensor offsets = at::zeros({(int64_t{1} << bits) + 1}, options);
    for (int64_t part = 0; part < int64_t{1} << part_bits; ++part)
      join_sort_part(offsets, order, ordered_hashes, part_bits, part, places[part].item<int64_t>(), ends[part].item<int64_t>());
    const auto [whole_offsets, whole_order, whole_hashes] = join_build(hashes);
    EXPECT_TRUE(at::equal(offsets, whole_offsets) && at::equal(order, whole_order) && at::equal(ordered_hashes, whole_hashes));
    return {offsets, order, ordered_hashes};
  };
}

Call draw_join_probe(Draw& draw) {
  const int64_t build_sizes[] = {0, 1, draw.rows / 4, draw.rows};
  const int64_t build_rows = build_sizes[draw.random() % 4];
  const int64_t keys = draw.rows > 5000 ? draw.rows / 3 : draw_key_count(draw);
  const at::Tensor build_hashes = random_hashes(draw, build_rows, keys), probe_hashes = random_hashes(draw, draw.rows, keys);
  const at::Tensor build_validity = optional_mask(draw, build_rows), probe_validity = optional_mask(draw, draw.rows);
  const int64_t begin = std::min(draw.rows, uniform(draw.random, 0, 3));
  const int64_t most_pairs = uniform(draw.random, 1, 1 + draw.rows * 2);
  return [=]() -> std::vector<at::Tensor> {
    const auto [offsets, order, ordered_hashes] = join_build(build_hashes, build_validity);
    auto [left, right, next] = join_probe(offsets, order, ordered_hashes, probe_hashes, probe_validity, begin, most_pairs);
    return {left, right, at::tensor({next}, at::kLong)};
  };
}

// Keys with several build rows each, single ones, and ranks that are the row numbers.
Call draw_rank_probe(Draw& draw) {
  const RankedKeys keys = draw_ranked_keys(draw);
  const int64_t kind = uniform(draw.random, 0, 2), begin = std::min(draw.rows, uniform(draw.random, 0, 3));
  const int64_t most_pairs = uniform(draw.random, 1, 1 + draw.rows * 2);
  return [=]() -> std::vector<at::Tensor> {
    at::Tensor ranks = keys.ranks();
    const int64_t distinct = close_key_ranks(ranks);
    at::Tensor offsets, order;
    if (kind == 1) order = at::arange(distinct, ranks.options().dtype(at::kInt)) * 3 + 1;
    if (kind == 2) {
      const at::Tensor rank = find_key_ranks(ranks, keys.added, keys.added_validity, keys.least);
      const int64_t bits = join_bucket_bits(rank.size(0));
      if (bits > 0) std::tie(offsets, order, std::ignore) = join_build(rank.bitwise_left_shift(64 - bits), rank.ge(0));
      if (order.defined()) order = order.to(at::kInt);
    }
    auto [left, right, next] = probe_ranks(ranks, offsets, order, keys.tested, keys.tested_validity, keys.least, begin, most_pairs);
    return {left, right, at::tensor({next}, at::kLong)};
  };
}

// Words of many shapes: few distinct values, a narrow range far from zero, extremes, bits of doubles, presorted.
at::Tensor random_sort_word(Draw& draw, int64_t rows) {
  using Limits = std::numeric_limits<int64_t>;
  const int64_t kind = uniform(draw.random, 0, 6);
  return words(draw, rows, [&](int64_t row) -> int64_t {
    const uint64_t number = draw.random();
    switch (kind) {
      case 0: return 7;
      case 1: return static_cast<int64_t>(number % 3) - 1;
      case 2: return (int64_t{1} << 50) + static_cast<int64_t>(number % 5000);
      case 3: return static_cast<int64_t>(number);
      case 4: return number % 4 == 0 ? Limits::min() : number % 4 == 1 ? Limits::max() : static_cast<int64_t>(number % 2) - 1;
      case 5: return static_cast<int64_t>((number % 50) << 52 | (number >> 60));
      default: return row / 3;
    }
  });
}

Call draw_sort(Draw& draw) {
  std::vector<at::Tensor> keys;
  for (int64_t count = uniform(draw.random, 1, 4); count > 0; --count) keys.push_back(random_sort_word(draw, draw.rows));
  return [=]() -> std::vector<at::Tensor> { return {sort_order(keys)}; };
}

// Bounds are rows, some of them equal in their first words.
Call draw_bounds_below(Draw& draw) {
  std::vector<at::Tensor> keys, bounds;
  for (int64_t count = uniform(draw.random, 1, 3); count > 0; --count) keys.push_back(random_sort_word(draw, draw.rows));
  const at::Tensor picked = sort_order(keys).slice(0, 0, draw.rows, uniform(draw.random, 1, 1 + draw.rows / 8));
  for (const at::Tensor& key : keys) bounds.push_back(key.index_select(0, picked.slice(0, 0, 300)));
  return [=]() -> std::vector<at::Tensor> { return {bounds_below(keys, bounds)}; };
}

Call draw_text_ranks(Draw& draw) {
  const TextDraw text = draw_text(draw, draw.rows);
  return [=]() -> std::vector<at::Tensor> { return {text_ranks(text.bytes, text.begins, text.ends)}; };
}

Call draw_compare_columns(Draw& draw) {
  const at::Tensor left = random_values(draw, draw.rows, true);
  at::Tensor right;
  do right = random_values(draw, draw.rows, true);
  while (right.scalar_type() != left.scalar_type() || right.dim() != left.dim());
  if (uniform(draw.random, 0, 1) == 0) {  // some equal rows
    right = right.clone(at::MemoryFormat::Contiguous);
    right.slice(0, 0, draw.rows / 2).copy_(left.slice(0, 0, draw.rows / 2));
  }
  const Comparison comparison = static_cast<Comparison>(uniform(draw.random, 0, 5));
  return [=]() -> std::vector<at::Tensor> { return {compare_columns(left, comparison, right)}; };
}

Call draw_compare_text_columns(Draw& draw) {
  const TextDraw left = draw_text(draw, draw.rows), right = draw_text(draw, draw.rows);
  const Comparison comparison = static_cast<Comparison>(uniform(draw.random, 0, 5));
  return [=]() -> std::vector<at::Tensor> {
    return {compare_text_columns(left.bytes, left.begins, left.ends, comparison, right.bytes, right.begins, right.ends),
            compare_text_columns(left.bytes, left.begins, left.ends, comparison, left.bytes, left.begins, left.ends)};
  };
}

}  // namespace

std::vector<Operation> relational_operations() {
  return {{"gather_rows", draw_gather_rows, {}},
          {"partition_rows", draw_partition, {}},
          {"radix_scatter", draw_radix_scatter, {}},
          {"key_filter", draw_key_filter, {}},
          {"key_bitmap", draw_key_bitmap, {}},
          {"key_ranks", draw_key_ranks, {}},
          {"place_by_rank", draw_place_by_rank, {}},
          {"route_rows", draw_route, {}},
          {"group_assign", draw_group_assign, {}},
          {"compare_to_groups", draw_compare_to_groups, {}},
          {"combine_rows", draw_combine_rows, {}},
          {"segment_count", draw_segment_count, {}},
          {"segment_sum", draw_segment_sum, {}},
          {"segment_sum_float", draw_segment_sum_float, {}},
          {"segment_moments", draw_segment_moments, {}},
          {"segment_extreme", draw_segment_extreme, {}},
          {"segment_bits", draw_segment_bits, {}},
          {"segment_sketch", draw_segment_sketch, {}},
          {"segment_extreme_text", draw_segment_extreme_text, {}},
          {"join_build", draw_join_build, {}},
          {"join_sort_part", draw_join_sort_part, {}},
          {"join_probe", draw_join_probe, {}},
          {"rank_probe", draw_rank_probe, {}},
          {"sort_order", draw_sort, {}},
          {"bounds_below", draw_bounds_below, {}},
          {"text_ranks", draw_text_ranks, {}},
          {"compare_columns", draw_compare_columns, {}},
          {"compare_text_columns", draw_compare_text_columns, {}}};
}

}  // namespace pistachio::kernels::kernel_cases
