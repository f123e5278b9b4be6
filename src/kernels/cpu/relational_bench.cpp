// Throughput of the kernels behind joins, aggregations and sorts on one core, in rows per second. Probes and aggregations process chunks
// against tables of many sizes; builds and sorts get all rows at once.
#include <benchmark/benchmark.h>

#include <limits>

#include "kernels/ops/compare_columns.h"
#include "kernels/ops/gather_rows.h"
#include "kernels/ops/group_assign.h"
#include "kernels/ops/hash64.h"
#include "kernels/ops/join_build.h"
#include "kernels/ops/join_probe.h"
#include "kernels/ops/key_filter.h"
#include "kernels/ops/partition_rows.h"
#include "kernels/ops/route_rows.h"
#include "kernels/ops/segment_extreme.h"
#include "kernels/ops/segment_moments.h"
#include "kernels/ops/segment_sum.h"
#include "kernels/ops/sort_order.h"
#include "kernels/ops/tensor_functions.h"
#include "kernels/ops/text_ranks.h"

namespace pistachio::kernels {
namespace {

constexpr int64_t chunk_rows = 131072;

void report(benchmark::State& state, int64_t rows) {
  state.counters["rows"] = benchmark::Counter(static_cast<double>(state.iterations() * rows), benchmark::Counter::kIsRate);
}

at::Tensor random_keys(int64_t rows, int64_t keys) {
  return at::randint(keys, {rows}, at::kLong);
}

// Splits a column into chunks, so that a benchmark does not process the same rows over and over.
std::vector<at::Tensor> chunks_of(const at::Tensor& rows) {
  std::vector<at::Tensor> chunks;
  for (int64_t first = 0; first + chunk_rows <= rows.size(0); first += chunk_rows)
    chunks.push_back(rows.slice(0, first, first + chunk_rows));
  return chunks;
}

void BM_GatherRows(benchmark::State& state) {
  const int64_t entries = state.range(1);
  const at::ScalarType types[] = {at::kChar, at::kShort, at::kInt, at::kLong};
  const at::Tensor values = state.range(0) == 16 ? at::zeros({entries, 2}, at::kLong)
                                                 : at::zeros({entries}, types[63 - __builtin_clzll(static_cast<uint64_t>(state.range(0)))]);
  const std::vector<at::Tensor> chunks = chunks_of(random_keys(16 * chunk_rows, entries));
  size_t next = 0;
  for (auto _ : state) benchmark::DoNotOptimize(gather_rows(values, chunks[next++ % chunks.size()]));
  report(state, chunk_rows);
}
BENCHMARK(BM_GatherRows)->ArgNames({"value_bytes", "entries"})->ArgsProduct({{1, 4, 8, 16}, {1000, 100000, 30000000}});

void BM_PartitionRows(benchmark::State& state) {
  const at::Tensor hashes = hash64(random_keys(chunk_rows, 1000000));
  for (auto _ : state) benchmark::DoNotOptimize(partition_rows(hashes, state.range(0)));
  report(state, chunk_rows);
}
BENCHMARK(BM_PartitionRows)->ArgName("bits")->Arg(1)->Arg(5)->Arg(8)->Arg(12);

void BM_KeyFilterTest(benchmark::State& state) {
  at::Tensor words = at::zeros({key_filter_words(state.range(0))}, at::kLong);
  key_filter_add(words, hash64(at::arange(state.range(0), at::kLong)));
  const at::Tensor hashes = hash64(random_keys(chunk_rows, 4 * state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(key_filter_test(words, hashes));
  report(state, chunk_rows);
}
BENCHMARK(BM_KeyFilterTest)->ArgName("keys")->Arg(1000)->Arg(100000)->Arg(4000000);

// With as many buckets per rank as exchanges use.
void BM_RouteRows(benchmark::State& state) {
  const int64_t ranks = state.range(0);
  const at::Tensor hashes = hash64(random_keys(chunk_rows, 1000000)), owners = at::arange(32 * ranks, at::kLong).remainder(ranks);
  for (auto _ : state) benchmark::DoNotOptimize(route_rows(hashes, owners, ranks));
  report(state, chunk_rows);
}
BENCHMARK(BM_RouteRows)->ArgName("ranks")->Arg(1)->Arg(2)->Arg(8)->Arg(64);

// All groups already exist.
void BM_GroupAssign(benchmark::State& state) {
  const int64_t keys = state.range(0);
  int64_t capacity = 2;
  while (capacity < 2 * keys) capacity *= 2;
  at::Tensor slots = at::zeros({capacity, 2}, at::kLong);
  const at::Tensor all = hash64(at::arange(keys, at::kLong));
  group_assign(slots, 0, capacity / 2, all, 0);
  const std::vector<at::Tensor> chunks = chunks_of(hash64(random_keys(16 * chunk_rows, keys)));
  size_t next = 0;
  for (auto _ : state) benchmark::DoNotOptimize(group_assign(slots, keys, capacity / 2, chunks[next++ % chunks.size()], 0));
  report(state, chunk_rows);
}
BENCHMARK(BM_GroupAssign)->ArgName("groups")->Arg(1)->Arg(4)->Arg(50)->Arg(1000)->Arg(10000)->Arg(100000)->Arg(1000000)->Arg(10000000);

// All groups are new: the table grows as its caller grows it.
void BM_GroupBuild(benchmark::State& state) {
  const std::vector<at::Tensor> chunks = chunks_of(hash64(at::randperm(state.range(0), at::kLong)));
  for (auto _ : state) {
    at::Tensor slots = at::zeros({4096, 2}, at::kLong);
    int64_t groups = 0;
    for (const at::Tensor& hashes : chunks) {
      for (int64_t row = 0; row < hashes.size(0);) {
        auto [ids, first_rows] = group_assign(slots, groups, slots.size(0) / 2, hashes, row);
        groups += first_rows.size(0);
        row += ids.size(0);
        if (row < hashes.size(0)) slots = group_rehash(slots, slots.size(0) * 4);
      }
    }
  }
  report(state, static_cast<int64_t>(chunks.size()) * chunk_rows);
}
BENCHMARK(BM_GroupBuild)->ArgName("rows")->Arg(131072)->Arg(1 << 20)->Arg(1 << 23)->Unit(benchmark::kMillisecond);

// Arguments of a segment kernel: number of groups, clustered or random ids, with or without NULLs.
struct SegmentRows {
  explicit SegmentRows(benchmark::State& state)
      : groups(state.range(0)),
        ids(state.range(1) == 0 ? random_keys(chunk_rows, groups) : std::get<0>(random_keys(chunk_rows, groups).sort())),
        validity(state.range(2) == 0 ? at::Tensor() : random_keys(chunk_rows, 100).lt(90)) {}
  int64_t groups;
  at::Tensor ids, validity;
};

void segment_arguments(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"groups", "sorted", "nulls"})
      ->ArgsProduct({{1, 4, 50, 1000, 100000, 4000000}, {0, 1}, {0}})
      ->Args({4, 0, 1})
      ->Args({1000, 0, 1});
}

void BM_SegmentCount(benchmark::State& state) {
  const SegmentRows rows(state);
  at::Tensor counts = at::zeros({rows.groups}, at::kLong);
  for (auto _ : state) segment_count(counts, rows.ids, rows.validity);
  report(state, chunk_rows);
}
BENCHMARK(BM_SegmentCount)->Apply(segment_arguments);

void BM_SegmentSum(benchmark::State& state) {
  const SegmentRows rows(state);
  const at::Tensor values = random_keys(chunk_rows, 1000000);
  at::Tensor sums = at::zeros({rows.groups, 2}, at::kLong);
  for (auto _ : state) segment_sum(sums, rows.ids, values, rows.validity);
  report(state, chunk_rows);
}
BENCHMARK(BM_SegmentSum)->Apply(segment_arguments);

void BM_SegmentSumFloat(benchmark::State& state) {
  const SegmentRows rows(state);
  const at::Tensor values = at::rand({chunk_rows}, at::kDouble);
  at::Tensor sums = at::zeros({rows.groups}, at::kDouble);
  for (auto _ : state) segment_sum_float(sums, rows.ids, values, rows.validity);
  report(state, chunk_rows);
}
BENCHMARK(BM_SegmentSumFloat)->Apply(segment_arguments);

void BM_SegmentMoments(benchmark::State& state) {
  const SegmentRows rows(state);
  const at::Tensor values = at::rand({chunk_rows}, at::kDouble);
  at::Tensor moments = at::zeros({rows.groups, 3}, at::kDouble);
  for (auto _ : state) segment_moments(moments, rows.ids, values, rows.validity);
  report(state, chunk_rows);
}
BENCHMARK(BM_SegmentMoments)->Apply(segment_arguments);

void BM_SegmentExtreme(benchmark::State& state) {
  const SegmentRows rows(state);
  const at::Tensor values = at::rand({chunk_rows}, at::kDouble);
  at::Tensor best = at::zeros({rows.groups}, at::kDouble), seen = at::zeros({rows.groups}, at::kBool);
  for (auto _ : state) segment_extreme(best, seen, rows.ids, values, true, rows.validity);
  report(state, chunk_rows);
}
BENCHMARK(BM_SegmentExtreme)->Apply(segment_arguments);

void BM_JoinBuild(benchmark::State& state) {
  const at::Tensor hashes = hash64(at::randperm(state.range(0), at::kLong));
  for (auto _ : state) benchmark::DoNotOptimize(join_build(hashes));
  report(state, state.range(0));
}
BENCHMARK(BM_JoinBuild)->ArgName("rows")->Arg(1000)->Arg(30000)->Arg(200000)->Arg(1500000)->Arg(15000000)->Unit(benchmark::kMicrosecond);

// `percent` of the rows have exactly one match.
void BM_JoinProbe(benchmark::State& state) {
  const int64_t build_rows = state.range(0);
  const auto [offsets, order, ordered_hashes] = join_build(hash64(at::randperm(build_rows, at::kLong)));
  const std::vector<at::Tensor> chunks = chunks_of(hash64(random_keys(16 * chunk_rows, build_rows * 100 / state.range(1))));
  size_t next = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(join_probe(offsets, order, ordered_hashes, chunks[next++ % chunks.size()], {}, 0, 1 << 20));
  }
  report(state, chunk_rows);
}
BENCHMARK(BM_JoinProbe)->ArgNames({"build_rows", "percent"})->ArgsProduct({{1000, 30000, 200000, 1500000, 15000000}, {100, 10}});

void BM_SortOrder(benchmark::State& state) {
  const int64_t rows = state.range(1);
  std::vector<at::Tensor> words;
  switch (state.range(0)) {
    case 0: words = {random_keys(rows, 2500)}; break;                                           // dates
    case 1: words = {random_keys(rows, 2), random_keys(rows, 10000000)}; break;                 // a flag, then amounts
    case 2: words = {at::rand({rows}, at::kDouble).view(at::kLong)}; break;                     // doubles
    case 3: words = {hash64(random_keys(rows, 1000)), hash64(random_keys(rows, rows))}; break;  // more bits than fit
    default: words = {at::arange(rows, at::kLong)};                                             // sorted already
  }
  for (auto _ : state) benchmark::DoNotOptimize(sort_order(words));
  report(state, rows);
}
BENCHMARK(BM_SortOrder)->ArgNames({"kind", "rows"})->ArgsProduct({{0, 1, 2, 3, 4}, {1000, 131072, 4000000}})->Unit(benchmark::kMicrosecond);

struct TextTensors {
  at::Tensor bytes, begins, ends;
};

// Nine bytes common to all values, then `letters` random ones.
TextTensors random_text(int64_t rows, int64_t letters) {
  at::Tensor bytes = at::randint('a', 'z' + 1, {rows, 9 + letters}, at::kByte);
  bytes.slice(1, 0, 9).fill_('#');
  const at::Tensor begins = at::arange(rows, at::kLong) * (9 + letters);
  return {bytes.reshape({-1}), begins, begins + (9 + letters)};
}

void BM_TextRanks(benchmark::State& state) {
  const TextTensors text = random_text(state.range(1), state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(text_ranks(text.bytes, text.begins, text.ends));
  report(state, state.range(1));
}
BENCHMARK(BM_TextRanks)->ArgNames({"letters", "rows"})->ArgsProduct({{1, 9}, {1000, 131072, 2000000}})->Unit(benchmark::kMicrosecond);

void BM_CompareColumns(benchmark::State& state) {
  const at::ScalarType type = static_cast<at::ScalarType>(state.range(0));
  const at::Tensor left = at::randint(100, {chunk_rows}, type), right = at::randint(100, {chunk_rows}, type);
  for (auto _ : state) benchmark::DoNotOptimize(compare_columns(left, Comparison::Less, right));
  report(state, chunk_rows);
}
BENCHMARK(BM_CompareColumns)
    ->ArgName("dtype")
    ->Arg(static_cast<int64_t>(at::kInt))
    ->Arg(static_cast<int64_t>(at::kLong))
    ->Arg(static_cast<int64_t>(at::kDouble));

void BM_CompareTextColumns(benchmark::State& state) {
  const TextTensors left = random_text(chunk_rows, 9), right = random_text(chunk_rows, 9);
  const Comparison comparison = state.range(0) == 0 ? Comparison::Equal : Comparison::Less;
  for (auto _ : state) {
    benchmark::DoNotOptimize(compare_text_columns(left.bytes, left.begins, left.ends, comparison, right.bytes, right.begins, right.ends));
  }
  report(state, chunk_rows);
}
BENCHMARK(BM_CompareTextColumns)->ArgName("ordered")->Arg(0)->Arg(1);

}  // namespace
}  // namespace pistachio::kernels
