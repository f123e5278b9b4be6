// Allocate, write, free: the pooled allocator against c10's default one, for tensor sizes from 1 KB to 16 MB. Alone and with
// two threads. "Burst" holds eight blocks at a time, like an expression over a chunk does.
#include "memory/pooled_allocator.h"

#include <benchmark/benchmark.h>
#include <c10/core/CPUAllocator.h>

#include <array>
#include <cstring>

namespace pistachio {
namespace {

c10::Allocator& pooled() {
  static PooledAllocator* allocator = new PooledAllocator;  // shared by the threads of a benchmark, never deleted
  return *allocator;
}

c10::Allocator& stock() {
  return *c10::GetDefaultCPUAllocator();
}

// Writes the whole block, as a kernel does: one write per page would measure cache set conflicts of page-aligned blocks.
void touch(void* block, size_t bytes) {
  std::memset(block, 1, bytes);
  benchmark::DoNotOptimize(block);
}

void allocate_and_free(benchmark::State& state, c10::Allocator& allocator) {
  const size_t bytes = static_cast<size_t>(state.range(0));
  for (auto _ : state) {
    c10::DataPtr block = allocator.allocate(bytes);
    touch(block.get(), bytes);
  }
  state.SetItemsProcessed(state.iterations());
}

void burst(benchmark::State& state, c10::Allocator& allocator) {
  const size_t bytes = static_cast<size_t>(state.range(0));
  std::array<c10::DataPtr, 8> blocks;
  for (auto _ : state) {
    for (c10::DataPtr& block : blocks) {
      block = allocator.allocate(bytes);
      touch(block.get(), bytes);
    }
    for (c10::DataPtr& block : blocks) block.clear();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(blocks.size()));
}

void single_pooled(benchmark::State& state) {
  allocate_and_free(state, pooled());
}
void single_stock(benchmark::State& state) {
  allocate_and_free(state, stock());
}
void burst_pooled(benchmark::State& state) {
  burst(state, pooled());
}
void burst_stock(benchmark::State& state) {
  burst(state, stock());
}

void sizes_and_threads(benchmark::internal::Benchmark* benchmark) {
  benchmark->RangeMultiplier(4)->Range(1 << 10, 16 << 20)->ThreadRange(1, 2)->UseRealTime();
}

BENCHMARK(single_pooled)->Apply(sizes_and_threads);
BENCHMARK(single_stock)->Apply(sizes_and_threads);
BENCHMARK(burst_pooled)->Apply(sizes_and_threads);
BENCHMARK(burst_stock)->Apply(sizes_and_threads);

}  // namespace
}  // namespace pistachio

BENCHMARK_MAIN();
