#include "exec/operators/distinct_sketch_state.h"

#include <algorithm>

#include "base/check.h"
#include "columns/column_hash.h"
#include "exec/core/growing_column.h"
#include "kernels/ops/compress.h"
#include "kernels/ops/gather_rows.h"
#include "kernels/ops/segment_sketch.h"
#include "kernels/ops/segment_sum.h"
#include "kernels/ops/sort_order.h"
#include "kernels/ops/tensor_functions.h"
#include "kernels/ops/text_compact.h"

namespace pistachio {

namespace {

// A larger set costs more than a sketch.
constexpr int64_t kMaxExact = 64;
constexpr int64_t kHashBytes = sizeof(int64_t);
// Rows that a CPU adds at a time: once a group gets its sketch in one strip, its rows bypass the table in the next.
constexpr int64_t kRowsPerSketchStrip = 1 << 15;

at::Tensor no_rows(at::ScalarType type, at::Device device) {
  return at::zeros({0}, at::TensorOptions(type).device(device));
}

Column words_column(const at::Tensor& words) {
  return Column::fixed(TypeKind::BigInt, words);
}

at::Tensor without_repeats(const at::Tensor& numbers) {
  const at::Tensor sorted = std::get<0>(numbers.sort());
  at::Tensor is_first = at::ones({sorted.numel()}, sorted.options().dtype(at::kBool));
  is_first.slice(0, 1).copy_(sorted.slice(0, 1).ne(sorted.slice(0, 0, sorted.numel() - 1)));
  return kernels::compress(sorted, is_first);
}

// sigma of O. Ertl, "New cardinality estimation algorithms for HyperLogLog sketches" (2017), algorithm 6:
// x + sum of 2^(k-1) x^(2^k). x is at most 1 - 1 / registers, so its powers vanish within `steps`.
at::Tensor ertl_sigma(at::Tensor x) {
  constexpr int steps = kernels::sketch_register_bits + 10;
  at::Tensor sum = x;
  double factor = 1;
  for (int i = 0; i < steps; ++i, factor *= 2) {
    x = x * x;
    sum = sum + x * factor;
  }
  return sum;
}

// int64: the estimated number of distinct values of each sketch, by Ertl's improved estimator, which is unbiased at any cardinality.
at::Tensor estimates_of(const at::Tensor& registers) {
  constexpr double size = kernels::sketch_registers, half_of_inverse_log = 0.72134752044448170;
  const at::Tensor sums = kernels::sketch_sums(registers).to(at::kDouble);
  const at::Tensor inverse_powers = sums.select(1, 1) / static_cast<double>(int64_t{1} << kernels::most_sketch_rank);
  const at::Tensor denominator = inverse_powers + ertl_sigma(sums.select(1, 0) / size) * size;
  return (half_of_inverse_log * size * size / denominator).round().to(at::kLong);
}

}  // namespace

DistinctSketchState::DistinctSketchState(at::Device device)
    : device_(device),
      entries_(std::make_unique<GroupTable>(std::vector<LogicalType>{TypeKind::BigInt, TypeKind::BigInt}, device)),
      counts_(no_rows(at::kLong, device)),
      sketch_of_(no_rows(at::kLong, device)),
      registers_(no_rows(at::kByte, device).view({0, kernels::sketch_registers})) {}

void DistinctSketchState::set_groups(int64_t groups) {
  if (groups == groups_) return;
  counts_ = with_room(counts_, counts_.size(0), groups);
  sketch_of_ = with_room(sketch_of_, sketch_of_.size(0), groups);
  groups_ = groups;
  sets_ = nullptr;
}

void DistinctSketchState::update(const GroupedRows& rows) {
  const at::Tensor hashes = hash_rows({*rows.argument});
  if (!rows.argument->has_validity()) return insert(rows.ids, hashes);
  const at::Tensor& valid = rows.argument->validity();
  const int64_t count = kernels::count_true(valid);
  insert(kernels::compress(rows.ids, valid, count), kernels::compress(hashes, valid, count));
}

void DistinctSketchState::insert(const at::Tensor& ids, const at::Tensor& hashes) {
  sets_ = nullptr;
  const int64_t rows = ids.numel();
  // A GPU takes all rows at once: strips would cost kernel launches.
  const int64_t step = device_.is_cpu() ? kRowsPerSketchStrip : std::max<int64_t>(rows, 1);
  for (int64_t begin = 0; begin < rows; begin += step)
    insert_strip(ids.slice(0, begin, begin + step), hashes.slice(0, begin, begin + step));
}

void DistinctSketchState::insert_strip(at::Tensor ids, at::Tensor hashes) {
  if (sketches_ > 0) {
    const at::Tensor sketch = kernels::gather_rows(sketch_of_, ids);
    const at::Tensor has_sketch = sketch.gt(0);
    const int64_t count = kernels::count_true(has_sketch);
    at::Tensor registers = used_registers();
    kernels::segment_sketch(registers, kernels::compress(sketch, has_sketch, count) - 1, kernels::compress(hashes, has_sketch, count));
    if (count == ids.numel()) return;
    const at::Tensor has_set = has_sketch.logical_not();
    ids = kernels::compress(ids, has_set, ids.numel() - count);
    hashes = kernels::compress(hashes, has_set, hashes.numel() - count);
  }
  const int64_t before = entries_->groups();
  entries_->assign({words_column(ids), words_column(hashes)}, ids.numel());
  const int64_t added = entries_->groups() - before;
  if (added == 0) return;
  const at::Tensor grown = entries_->keys()[0].slice(before, added).values();
  kernels::segment_count(counts_, grown);
  start_sketches(kernels::compress(grown, kernels::gather_rows(counts_, grown).gt(kMaxExact)));
}

void DistinctSketchState::start_sketches(const at::Tensor& groups) {
  const at::Tensor fresh = kernels::compress(groups, kernels::gather_rows(sketch_of_, groups).eq(0));
  if (fresh.numel() == 0) return;
  const at::Tensor chosen = without_repeats(fresh);
  const int64_t all = sketches_ + chosen.numel();
  registers_ = with_room(registers_, sketches_, all);
  sketch_of_.index_copy_(0, chosen, at::arange(sketches_ + 1, all + 1, chosen.options()));
  sketches_ = all;
  stale_ += kernels::gather_rows(counts_, chosen).sum().item<int64_t>();
  if (2 * stale_ > entries_->groups()) drop_stale_entries();
}

at::Tensor DistinctSketchState::sketch_stale_entries() const {
  const std::vector<Column> entries = entries_->keys();
  const at::Tensor sketch = kernels::gather_rows(sketch_of_, entries[0].values());
  const at::Tensor is_stale = sketch.gt(0);
  at::Tensor registers = used_registers();
  kernels::segment_sketch(registers, kernels::compress(sketch, is_stale) - 1, kernels::compress(entries[1].values(), is_stale));
  return is_stale;
}

void DistinctSketchState::drop_stale_entries() {
  const at::Tensor is_kept = sketch_stale_entries().logical_not();
  const std::vector<Column> entries = entries_->keys();
  const at::Tensor ids = kernels::compress(entries[0].values(), is_kept), hashes = kernels::compress(entries[1].values(), is_kept);
  entries_ = std::make_unique<GroupTable>(std::vector<LogicalType>{TypeKind::BigInt, TypeKind::BigInt}, device_);
  entries_->assign({words_column(ids), words_column(hashes)}, ids.numel());
  stale_ = 0;
}

DistinctSketchState::Sets DistinctSketchState::sets() const {
  const std::lock_guard lock(mutex_);
  if (sets_) return *sets_;
  at::Tensor ids = entries_->keys()[0].values(), hashes = entries_->keys()[1].values();
  if (stale_ > 0) {
    const at::Tensor is_kept = sketch_stale_entries().logical_not();
    ids = kernels::compress(ids, is_kept);
    hashes = kernels::compress(hashes, is_kept);
  }
  const at::Tensor counts = counts_.narrow(0, 0, groups_).masked_fill(sketch_of_.narrow(0, 0, groups_).gt(0), 0);
  sets_ = std::make_unique<const Sets>(Sets{kernels::gather_rows(hashes, kernels::sort_order({ids})), counts.cumsum(0)});
  return *sets_;
}

std::vector<Column> DistinctSketchState::columns_of(const at::Tensor& rows) const {
  const Sets all = sets();
  const at::Tensor sketch = kernels::gather_rows(sketch_of_, rows), has_sketch = sketch.gt(0);
  const at::Tensor lengths = kernels::gather_rows(counts_, rows).masked_fill(has_sketch, 0).mul(kHashBytes);
  const at::Tensor ends = kernels::gather_rows(all.ends, rows).mul(kHashBytes);
  const auto [set_bytes, offsets] = kernels::text_compact(all.hashes.view(at::kByte), ends - lengths, ends);
  at::Tensor begins = offsets.slice(0, 0, rows.numel()), ends_of_values = offsets.slice(0, 1);
  if (sketches_ == 0) return {Column::text(TypeKind::Blob, set_bytes, begins, ends_of_values)};
  // Sketches follow the sets.
  const at::Tensor chosen = used_registers().index_select(0, kernels::compress(sketch, has_sketch) - 1);
  const at::Tensor places = has_sketch.cumsum(0).sub(1).mul(kernels::sketch_registers).add(set_bytes.numel());
  begins = at::where(has_sketch, places, begins);
  ends_of_values = at::where(has_sketch, places + kernels::sketch_registers, ends_of_values);
  return {Column::text(TypeKind::Blob, kernels::concatenate_tensors({set_bytes, chosen.view({-1})}), begins, ends_of_values)};
}

void DistinctSketchState::add(const at::Tensor& ids, const std::vector<Column>& columns) {
  sets_ = nullptr;
  const Column& states = columns[0];
  const at::Tensor lengths = states.ends() - states.begins();
  const at::Tensor is_sketch = lengths.eq(kernels::sketch_registers);
  const auto chosen = [&](const at::Tensor& mask) {
    const at::Tensor begins = kernels::compress(states.begins(), mask), ends = kernels::compress(states.ends(), mask);
    return std::get<0>(kernels::text_compact(states.bytes(), begins, ends));
  };
  if (const int64_t sketches = kernels::count_true(is_sketch); sketches > 0) {
    merge_sketches(kernels::compress(ids, is_sketch, sketches), chosen(is_sketch).view({-1, kernels::sketch_registers}).contiguous());
    if (sketches == ids.numel()) return;
  }
  const at::Tensor is_set = is_sketch.logical_not();
  const at::Tensor bytes = chosen(is_set);
  ENSURE_EQ(bytes.numel() % kHashBytes, 0);
  at::Tensor hashes = at::empty({bytes.numel() / kHashBytes}, ids.options());
  hashes.view(at::kByte).copy_(bytes);
  const at::Tensor set_ids = kernels::compress(ids, is_set), sizes = at::floor_divide(kernels::compress(lengths, is_set), kHashBytes);
  insert(at::repeat_interleave(set_ids, sizes), hashes);
}

void DistinctSketchState::merge_sketches(const at::Tensor& ids, const at::Tensor& sketches) {
  start_sketches(ids);
  at::Tensor registers = used_registers();
  kernels::sketch_merge(registers, kernels::gather_rows(sketch_of_, ids) - 1, sketches);
}

Column DistinctSketchState::finish(const AggregateCall& call, int64_t groups) const {
  sets();
  at::Tensor counts = counts_.narrow(0, 0, groups).clone();
  if (sketches_ > 0) {
    const at::Tensor sketch = sketch_of_.narrow(0, 0, groups), has_sketch = sketch.gt(0);
    counts.masked_scatter_(has_sketch, kernels::gather_rows(estimates_of(used_registers()), kernels::compress(sketch, has_sketch) - 1));
  }
  return Column::fixed(call.type, counts);
}

int64_t DistinctSketchState::memory_bytes() const {
  return entries_->memory_bytes() + static_cast<int64_t>(counts_.nbytes() + sketch_of_.nbytes() + registers_.nbytes());
}

int64_t DistinctSketchState::most_bytes_with(int64_t rows) const {
  // A full tensor is copied into one of twice the size; both exist meanwhile. A sketch takes as much memory as the entries it replaces.
  const int64_t own = memory_bytes() - entries_->memory_bytes();
  constexpr int64_t bytes_per_row = 2 * 2 * sizeof(int64_t) + 2 * kernels::sketch_registers / kMaxExact;
  return entries_->most_bytes_with(rows) + 3 * own + rows * bytes_per_row;
}

}  // namespace pistachio
