// Throughput of the CPU kernels on one core, in rows per second and as a share of this machine's memory bandwidth (bytes read and written,
// relative to a large copy measured at the start). Batches have the engine's chunk size, so that a kernel's output stays in cache as it
// does in a query.
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstring>
#include <optional>
#include <string>

#include "kernels/cpu/instruction_set_guard.h"
#include "kernels/cpu/test_streams.h"
#include "kernels/ops/byte_stream_split_decode.h"
#include "kernels/ops/compare_constant.h"
#include "kernels/ops/compare_text_constant.h"
#include "kernels/ops/compress.h"
#include "kernels/ops/definition_levels_decode.h"
#include "kernels/ops/delta_binary_decode.h"
#include "kernels/ops/dictionary_gather.h"
#include "kernels/ops/hash64.h"
#include "kernels/ops/instruction_set.h"
#include "kernels/ops/plain_decode.h"
#include "kernels/ops/plain_text_decode.h"
#include "kernels/ops/rle_decode.h"
#include "kernels/ops/spread.h"
#include "kernels/ops/summarize.h"
#include "kernels/ops/summarize_text.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels {
namespace {

constexpr int64_t rows = 131072;

// Bandwidth of a copy far larger than the caches of one core; counts reads and writes.
double measure_bandwidth() {
  const size_t size = size_t{256} << 20;
  std::vector<uint8_t> from(size, 1), to(size, 2);
  double best = 0;
  for (int round = 0; round < 4; ++round) {
    const auto start = std::chrono::steady_clock::now();
    std::memcpy(to.data(), from.data(), size);
    benchmark::DoNotOptimize(to.data());
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    best = std::max(best, 2.0 * static_cast<double>(size) / seconds);
  }
  return best;
}

double bandwidth() {
  static const double value = measure_bandwidth();
  return value;
}

void report(benchmark::State& state, int64_t row_count, int64_t bytes_touched) {
  const double total_rows = static_cast<double>(state.iterations() * row_count);
  const double total_bytes = static_cast<double>(state.iterations() * bytes_touched);
  state.counters["rows"] = benchmark::Counter(total_rows, benchmark::Counter::kIsRate);
  state.counters["of_bandwidth"] = benchmark::Counter(total_bytes / bandwidth(), benchmark::Counter::kIsRate);
}

at::Tensor to_tensor(const test_streams::Bytes& bytes) {
  at::Tensor tensor = at::empty({static_cast<int64_t>(bytes.size())}, at::kByte);
  std::memcpy(tensor.mutable_data_ptr<uint8_t>(), bytes.data(), bytes.size());
  return tensor;
}

at::Tensor table(std::vector<int64_t> cells) {
  const int64_t count = static_cast<int64_t>(cells.size());
  return at::tensor(cells, at::kLong).view({1, count});
}

// Codes in bit-packed runs of at most 504 values, as common writers produce, or in a single run.
at::Tensor packed_codes(int64_t width, int64_t entries, bool one_run) {
  test_streams::Random random(7);
  std::vector<uint32_t> codes(static_cast<size_t>(rows));
  for (uint32_t& code : codes) code = static_cast<uint32_t>(random() % static_cast<uint64_t>(entries));
  test_streams::Bytes bytes;
  const size_t run = one_run ? codes.size() : 504;
  for (size_t start = 0; start < codes.size(); start += run) {
    std::vector<uint64_t> part(codes.begin() + static_cast<int64_t>(start),
                               codes.begin() + static_cast<int64_t>(std::min(codes.size(), start + run)));
    test_streams::append_varint(bytes, (part.size() + 7) / 8 << 1 | 1);
    test_streams::append_packed(bytes, part, width);
  }
  return to_tensor(bytes);
}

void BM_RleDecode(benchmark::State& state) {
  const int64_t width = state.range(0);
  const at::Tensor bytes = packed_codes(width, int64_t{1} << width, state.range(1) == 1);
  const at::Tensor pages = table({0, bytes.numel(), width, int64_t{1} << width, 0, 0, rows});
  for (auto _ : state) benchmark::DoNotOptimize(rle_decode(bytes, pages));
  report(state, rows, bytes.numel() + rows * 4);
}
BENCHMARK(BM_RleDecode)->ArgNames({"bits", "one_run"})->ArgsProduct({{1, 2, 4, 8, 12, 16, 17, 20, 24, 28, 31}, {0, 1}});

void BM_RleDecodeThenGather(benchmark::State& state) {
  const int64_t width = state.range(0), entries = int64_t{1} << width;
  const at::Tensor bytes = packed_codes(width, entries, false);
  const at::Tensor pages = table({0, bytes.numel(), width, entries, 0, 0, rows});
  const at::Tensor dictionary = at::arange(entries, state.range(1) == 8 ? at::kLong : at::kInt);
  for (auto _ : state) benchmark::DoNotOptimize(dictionary_gather(dictionary, rle_decode(bytes, pages)));
  report(state, rows, bytes.numel() + rows * (4 + state.range(1)));
}
BENCHMARK(BM_RleDecodeThenGather)->ArgNames({"bits", "value_bytes"})->ArgsProduct({{4, 12, 17}, {4, 8}});

void BM_DefinitionLevels(benchmark::State& state) {
  test_streams::Random random(7);
  std::vector<uint32_t> levels(static_cast<size_t>(rows));
  for (uint32_t& level : levels) level = state.range(0) == 0 ? 1 : random() % 10 != 0;
  const at::Tensor bytes = to_tensor(test_streams::encode_rle(levels, 1, random));
  const at::Tensor pages = table({0, bytes.numel(), 1, 0, rows});
  for (auto _ : state) benchmark::DoNotOptimize(definition_levels_decode(bytes, pages));
  report(state, rows, bytes.numel() + rows);
}
BENCHMARK(BM_DefinitionLevels)->ArgName("with_nulls")->Arg(0)->Arg(1);

void BM_PlainDecode(benchmark::State& state) {
  const at::Tensor bytes = at::zeros({rows * 8 + 1}, at::kByte);
  const at::Tensor pages = table({1, bytes.numel(), 0, rows});
  for (auto _ : state) benchmark::DoNotOptimize(plain_decode(bytes, pages, at::kLong));
  report(state, rows, rows * 16);
}
BENCHMARK(BM_PlainDecode);

std::vector<std::string> text_values(int64_t kind, int64_t count) {
  test_streams::Random random(7);
  std::vector<std::string> values;
  for (int64_t i = 0; i < count; ++i) {
    switch (kind) {
      case 0: values.push_back("Customer#" + std::to_string(100000000 + random() % 1000000)); break;            // one length
      case 1: values.emplace_back(static_cast<size_t>(10 + random() % 34), static_cast<char>('a' + i % 26)); break;  // many lengths
      default: values.push_back("stra\xc3\x9f" "e " + std::to_string(random() % 100000));                         // not ASCII
    }
  }
  return values;
}

struct TextTensors {
  at::Tensor bytes, begins, ends;
};

TextTensors text_tensors(int64_t kind, int64_t count) {
  const at::Tensor bytes = to_tensor(test_streams::encode_text(text_values(kind, count)));
  auto [begins, ends] = plain_text_decode(bytes, table({0, bytes.numel(), 0, count}));
  return {bytes, begins, ends};
}

void BM_PlainText(benchmark::State& state) {
  const TextTensors text = text_tensors(state.range(0), rows);
  const at::Tensor pages = table({0, text.bytes.numel(), 0, rows});
  for (auto _ : state) benchmark::DoNotOptimize(plain_text_decode(text.bytes, pages));
  report(state, rows, text.bytes.numel() + rows * 16);
}
BENCHMARK(BM_PlainText)->ArgName("kind")->Arg(0)->Arg(1);

void BM_ByteStreamSplit(benchmark::State& state) {
  const int64_t width = state.range(0);
  const at::Tensor bytes = at::zeros({rows * width}, at::kByte);
  const at::Tensor pages = table({0, bytes.numel(), rows, 0, rows});
  for (auto _ : state) benchmark::DoNotOptimize(byte_stream_split_decode(bytes, pages, width));
  report(state, rows, rows * width * 2);
}
BENCHMARK(BM_ByteStreamSplit)->ArgName("width")->Arg(2)->Arg(4)->Arg(8)->Arg(16);

void BM_DeltaBinary(benchmark::State& state) {
  test_streams::Random random(7);
  std::vector<int64_t> values;
  int64_t value = 0;
  for (int64_t i = 0; i < rows; ++i) values.push_back(value += static_cast<int64_t>(random() % (uint64_t{1} << state.range(0))));
  const at::Tensor bytes = to_tensor(test_streams::encode_delta(values, 128, 4, false, random));
  const at::Tensor pages = table({0, bytes.numel(), rows, 0, rows});
  for (auto _ : state) benchmark::DoNotOptimize(delta_binary_decode(bytes, pages, false));
  report(state, rows, bytes.numel() + rows * 8);
}
BENCHMARK(BM_DeltaBinary)->ArgName("bits")->Arg(0)->Arg(4)->Arg(12)->Arg(40);

at::ScalarType type_of(int64_t value_bytes) {
  return value_bytes == 1 ? at::kChar : value_bytes == 2 ? at::kShort : value_bytes == 4 ? at::kInt : at::kLong;
}

at::Tensor mask_of(int64_t percent) {
  return at::randint(100, {rows}, at::kLong).lt(percent);
}

void BM_Spread(benchmark::State& state) {
  const at::Tensor validity = mask_of(90);
  const at::Tensor values = at::zeros({count_true(validity)}, type_of(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(spread(values, validity));
  report(state, rows, rows * (1 + state.range(0)) + values.numel() * state.range(0));
}
BENCHMARK(BM_Spread)->ArgName("value_bytes")->Arg(1)->Arg(2)->Arg(4)->Arg(8);

void BM_Compress(benchmark::State& state) {
  const at::Tensor mask = mask_of(state.range(1));
  const at::Tensor values = at::zeros({rows}, type_of(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(compress(values, mask));
  report(state, rows, rows * (1 + state.range(0)) + rows * state.range(0) * state.range(1) / 100);
}
BENCHMARK(BM_Compress)->ArgNames({"value_bytes", "percent"})->ArgsProduct({{1, 4, 8}, {2, 50, 98}});

void BM_DictionaryGather(benchmark::State& state) {
  const at::Tensor dictionary = at::arange(state.range(1), type_of(state.range(0)));
  const at::Tensor codes = at::randint(state.range(1), {rows}, at::kInt);
  for (auto _ : state) benchmark::DoNotOptimize(dictionary_gather(dictionary, codes));
  report(state, rows, rows * (4 + state.range(0)));
}
BENCHMARK(BM_DictionaryGather)->ArgNames({"value_bytes", "entries"})->ArgsProduct({{2, 4, 8}, {3, 50, 2500, 100000}});

void BM_CompareConstant(benchmark::State& state) {
  const at::Tensor values = at::randint(100, {rows}, type_of(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(compare_constant(values, Comparison::Less, 24));
  report(state, rows, rows * (1 + state.range(0)));
}
BENCHMARK(BM_CompareConstant)->ArgName("value_bytes")->Arg(1)->Arg(2)->Arg(4)->Arg(8);

void BM_CompareText(benchmark::State& state) {
  const TextTensors text = text_tensors(0, rows);
  const Comparison comparison = state.range(0) == 0 ? Comparison::Equal : Comparison::Less;
  for (auto _ : state) {
    benchmark::DoNotOptimize(compare_text_constant(text.bytes, text.begins, text.ends, comparison, "Customer#100050000"));
  }
  report(state, rows, text.bytes.numel() + rows * 17);
}
BENCHMARK(BM_CompareText)->ArgName("ordered")->Arg(0)->Arg(1);

void BM_Summarize(benchmark::State& state) {
  const at::Tensor values = state.range(0) > 0 ? at::randint(1000, {rows}, type_of(state.range(0)))
                                               : at::rand({rows}, state.range(0) == -4 ? at::kFloat : at::kDouble);
  const at::Tensor validity = state.range(1) == 1 ? mask_of(90) : at::Tensor();
  for (auto _ : state) benchmark::DoNotOptimize(summarize(values, validity));
  report(state, rows, rows * values.element_size());
}
BENCHMARK(BM_Summarize)->ArgNames({"value_bytes", "with_nulls"})->ArgsProduct({{2, 4, 8, -4, -8}, {0, 1}});

void BM_SummarizeDictionary(benchmark::State& state) {
  const at::Tensor dictionary = at::arange(state.range(1), type_of(state.range(0)));
  const at::Tensor codes = at::randint(state.range(1), {rows}, at::kInt);
  const at::Tensor validity = state.range(2) == 1 ? mask_of(90) : at::Tensor();
  for (auto _ : state) benchmark::DoNotOptimize(summarize_dictionary(dictionary, codes, validity));
  report(state, rows, rows * 4);
}
BENCHMARK(BM_SummarizeDictionary)->ArgNames({"value_bytes", "entries", "with_nulls"})->ArgsProduct({{4, 8}, {3, 50, 2500, 100000}, {0, 1}});

void BM_SummarizeText(benchmark::State& state) {
  const TextTensors text = text_tensors(state.range(0), rows);
  for (auto _ : state) benchmark::DoNotOptimize(summarize_text(text.bytes, text.begins, text.ends));
  report(state, rows, text.bytes.numel() + rows * 16);
}
BENCHMARK(BM_SummarizeText)->ArgName("kind")->Arg(0)->Arg(1)->Arg(2);

void BM_SummarizeTextDictionary(benchmark::State& state) {
  const TextTensors text = text_tensors(state.range(0), state.range(1));
  const at::Tensor codes = at::randint(state.range(1), {rows}, at::kInt);
  for (auto _ : state) benchmark::DoNotOptimize(summarize_text_dictionary(text.bytes, text.begins, text.ends, codes));
  report(state, rows, rows * 4);
}
BENCHMARK(BM_SummarizeTextDictionary)->ArgNames({"kind", "entries"})->ArgsProduct({{0, 2}, {7, 2500, 100000}});

void BM_Hash(benchmark::State& state) {
  const at::Tensor values = at::randint(1000, {rows}, type_of(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(hash64(values));
  report(state, rows, rows * (8 + state.range(0)));
}
BENCHMARK(BM_Hash)->ArgName("value_bytes")->Arg(4)->Arg(8);

void BM_HashText(benchmark::State& state) {
  const TextTensors text = text_tensors(state.range(0), rows);
  for (auto _ : state) benchmark::DoNotOptimize(hash64_text(text.bytes, text.begins, text.ends));
  report(state, rows, text.bytes.numel() + rows * 24);
}
BENCHMARK(BM_HashText)->ArgName("kind")->Arg(0)->Arg(1);

}  // namespace
}  // namespace pistachio::kernels

// In addition to the library's arguments: --instruction_set=AVX2 selects the bodies (names as in kernels_cpu_test).
int main(int argc, char** argv) {
  using namespace pistachio::kernels;
  std::optional<InstructionSetGuard> guard;
  for (int i = 1; i < argc; ++i) {
    for (const int64_t instruction_set : available_instruction_sets()) {
      if (std::string(argv[i]) == std::string("--instruction_set=") + hwy::TargetName(instruction_set)) guard.emplace(instruction_set);
    }
  }
  benchmark::Initialize(&argc, argv);
  at::set_num_threads(1);
  benchmark::AddCustomContext("instruction_set", chosen_instruction_set());
  benchmark::AddCustomContext("copy_gigabytes_per_second", std::to_string(bandwidth() / 1e9));
  benchmark::RunSpecifiedBenchmarks();
}
