// Throughput of combine_rows on one core: rows per second and the share of rows that were merged, for tables from L2 to memory, on huge
// pages as in the engine. BM_MemoryRead and BM_RandomUpdate show what the machine's memory allows.
#include <benchmark/benchmark.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "kernels/ops/combine_rows.h"
#include "kernels/ops/hash64.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels {
namespace {

constexpr int64_t chunk_rows = 131072;
constexpr size_t huge_page_bytes = size_t{2} << 20;
constexpr int64_t unlimited_keys = int64_t{1} << 40;

at::Tensor zeros_on_huge_pages(int64_t rows, int64_t width) {
  const size_t bytes = static_cast<size_t>(rows * width) * sizeof(int64_t);
  const size_t rounded = (bytes + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes;
  void* memory = std::aligned_alloc(huge_page_bytes, rounded);
  madvise(memory, rounded, MADV_HUGEPAGE);
  std::memset(memory, 0, rounded);
  return at::from_blob(memory, {rows, width}, [](void* address) { std::free(address); }, at::kLong);
}

struct Layout {
  const char* name;
  int64_t key_words;
  std::vector<MergeOp> merges;

  int64_t width() const {
    int64_t words = 1 + key_words;
    for (const MergeOp op : merges) words += merge_op_words(op);
    return words;
  }
};

const Layout layouts[] = {{"distinct", 0, {}},
                          {"count", 0, {MergeOp::AddInt64}},
                          {"sum128_count", 0, {MergeOp::AddInt128, MergeOp::AddInt64}},
                          {"key_sum128_count", 1, {MergeOp::AddInt128, MergeOp::AddInt64}},
                          {"any_layout", 0, {MergeOp::MinInt64, MergeOp::MaxInt64, MergeOp::AddInt64}}};

at::Tensor random_rows(const Layout& layout, int64_t count, int64_t keys) {
  at::Tensor rows = at::ones({count, layout.width()}, at::kLong);
  const at::Tensor key = at::randint(keys, {count}, at::kLong);
  rows.select(1, 0).copy_(hash64(key));
  if (layout.key_words == 1) rows.select(1, 1).copy_(key);
  return rows;
}

void BM_CombineRows(benchmark::State& state) {
  const Layout& layout = layouts[state.range(0)];
  const int64_t keys = state.range(1), width = layout.width();
  int64_t slots = 2;
  while (2 * slots * width * 8 <= state.range(2) * 1024) slots *= 2;
  at::Tensor table = zeros_on_huge_pages(slots, width);
  // Enough rows that a repetition does not find the previous one's keys in the table.
  const at::Tensor rows = random_rows(layout, (keys > 2000000 ? 128 : 16) * chunk_rows, keys);
  for (int64_t first = 0; first < rows.size(0); first += chunk_rows)
    combine_rows(table, rows.slice(0, first, first + chunk_rows), layout.key_words, layout.merges);
  int64_t first = 0, merged = 0;
  for (auto _ : state) {
    merged += std::get<1>(combine_rows(table, rows.slice(0, first, first + chunk_rows), layout.key_words, layout.merges));
    first = (first + chunk_rows) % rows.size(0);
  }
  const double total = static_cast<double>(state.iterations() * chunk_rows);
  state.SetLabel(layout.name);
  state.counters["rows"] = benchmark::Counter(total, benchmark::Counter::kIsRate);
  state.counters["merged"] = static_cast<double>(merged) / total;
}

void combine_arguments(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"layout", "keys", "table_kib"});
  for (int64_t layout = 0; layout < static_cast<int64_t>(std::size(layouts)); ++layout) {
    bench->Args({layout, 10000, 256})
        ->Args({layout, 100000, 2048})
        ->Args({layout, 1000000, 16384})
        ->Args({layout, 10000000, 65536})
        ->Args({layout, unlimited_keys, 256});
  }
}
BENCHMARK(BM_CombineRows)->Apply(combine_arguments);

void BM_MemoryRead(benchmark::State& state) {
  const at::Tensor words = zeros_on_huge_pages(int64_t{1} << 25, 1);
  for (auto _ : state) benchmark::DoNotOptimize(words.sum());
  state.SetBytesProcessed(state.iterations() * words.numel() * 8);
}
BENCHMARK(BM_MemoryRead);

// One word in a random cache line is incremented per row, prefetched well ahead.
void BM_RandomUpdate(benchmark::State& state) {
  at::Tensor table = zeros_on_huge_pages(state.range(0) * 1024 / 64, 8);
  int64_t* lines = table.mutable_data_ptr<int64_t>();
  const at::Tensor order = at::randint(table.size(0), {16 * chunk_rows}, at::kLong).mul_(8);
  const int64_t* at = order.const_data_ptr<int64_t>();
  const int64_t count = order.numel() - 48;
  for (auto _ : state) {
    for (int64_t i = 0; i < count; ++i) {
      int64_t* ahead = lines + at[i + 48];
      asm("" : "+r"(ahead));  // Neoverse N1 ignores prefetches with a scaled index
      __builtin_prefetch(ahead, 1);
      ++lines[at[i]];
    }
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * count);
}
BENCHMARK(BM_RandomUpdate)->ArgName("table_kib")->Arg(256)->Arg(2048)->Arg(16384)->Arg(65536);

}  // namespace
}  // namespace pistachio::kernels
