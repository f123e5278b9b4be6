// Cost of merging partial results on the way to another host, on one thread: from the columns of a received chunk to the columns of the
// rows that leave the tables. `merged` is the merged share of the rows.
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>

#include "exec/operators/combine_tables.h"
#include "kernels/ops/tensor_functions.h"
#include "memory/memory_governor.h"

namespace pistachio {
namespace {

constexpr int64_t kChunkRows = 65'536;
constexpr int64_t kChunks = 64;

struct Shape {
  const char* name;
  std::vector<LogicalType> keys;
  std::vector<std::pair<const char*, LogicalType>> calls;
};

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {
      {"distinct_integer", {TypeKind::Integer}, {}},
      {"count_by_bigint", {TypeKind::BigInt}, {{"count", TypeKind::BigInt}}},
      {"sum_by_bigint", {TypeKind::BigInt}, {{"sum", LogicalType::decimal(12, 2)}}},
      {"minimum_by_two_keys", {TypeKind::BigInt, TypeKind::Integer}, {{"min", TypeKind::Date}, {"count", TypeKind::BigInt}}},
  };
  return all;
}

CombinedColumns columns_of(const Shape& shape) {
  CombinedColumns made;
  for (LogicalType type : shape.keys) {
    made.keys.push_back(made.columns++);
    made.key_types.push_back(type);
  }
  for (const auto& [name, type] : shape.calls) {
    AggregateCall& call = made.calls.emplace_back();
    call.function = find_aggregate(name);
    call.argument = Expression::column(ColumnId{1}, type);
    std::vector<size_t>& places = made.states.emplace_back();
    for (size_t i = 0; i < state_types(call).size(); ++i) places.push_back(made.columns++);
  }
  return made;
}

Column column_of(LogicalType type, const at::Tensor& numbers) {
  if (type.is_wide()) return Column::fixed(type, at::stack({numbers, at::zeros_like(numbers)}, 1));
  return Column::fixed(type, numbers.to(type.scalar_type()));
}

std::vector<Chunk> random_chunks(const CombinedColumns& columns, int64_t keys) {
  std::vector<Chunk> made;
  for (int64_t i = 0; i < kChunks; ++i) {
    const at::Tensor key = at::randint(keys, {kChunkRows}, at::kLong);
    std::vector<Column> of_chunk;
    for (LogicalType type : columns.key_types) of_chunk.push_back(column_of(type, key));
    for (const AggregateCall& call : columns.calls) {
      for (LogicalType type : state_types(call)) of_chunk.push_back(column_of(type, at::ones_like(key)));
    }
    made.emplace_back(std::move(of_chunk), kChunkRows, at::kCPU);
  }
  return made;
}

void BM_CombineTables(benchmark::State& state) {
  const Shape& shape = shapes()[static_cast<size_t>(state.range(0))];
  const CombinedColumns columns = columns_of(shape);
  const std::vector<Chunk> chunks = random_chunks(columns, state.range(1));
  MemoryGovernor governor(int64_t{1} << 32);
  int64_t rows = 0, merged = 0;
  for (auto _ : state) {
    const auto tables = make_combine_tables(columns, {static_cast<int>(state.range(2)), state.range(2) * (16 << 20), at::kCPU},
                                            governor.process_account().make_child("tables"));
    for (const Chunk& chunk : chunks) benchmark::DoNotOptimize(tables->add(chunk, {}));
    benchmark::DoNotOptimize(tables->flush());
    rows += tables->added();
    merged += tables->merged();
  }
  state.SetLabel(shape.name);
  state.counters["rows"] = benchmark::Counter(static_cast<double>(rows), benchmark::Counter::kIsRate);
  state.counters["merged"] = static_cast<double>(merged) / static_cast<double>(rows);
}

void table_arguments(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"shape", "keys", "lanes"})->Unit(benchmark::kMillisecond);
  for (int64_t shape = 0; shape < static_cast<int64_t>(shapes().size()); ++shape) {
    for (int64_t keys : {10'000, 1'000'000, 10'000'000}) {
      for (int64_t lanes : {1, 4}) bench->Args({shape, keys, lanes});
    }
  }
}
BENCHMARK(BM_CombineTables)->Apply(table_arguments);

}  // namespace
}  // namespace pistachio

int main(int argc, char** argv) {
  at::set_num_threads(1);  // as in the engine's workers
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
