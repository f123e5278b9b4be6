// Whole scans of generated files: values against Arrow's reader, comparisons on the comparable types (two per column, in rotation) against
// a naive evaluation, with and without late materialization, over many chunk sizes; several files, nested files, damaged files.
#include "storage/table_scan.h"

#include <arrow/api.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <random>
#include <thread>

#include "columns/column_hash.h"
#include "columns/decode_dictionary.h"
#include "frontend/bench/sample_file.h"
#include "kernels/ops/tensor_functions.h"
#include "tests/parquet/arrow_compare.h"
#include "tests/parquet/file_mutator.h"
#include "tests/parquet/parquet_file_factory.h"
#include "tests/parquet/scan_devices.h"
#include "tests/parquet/scan_harness.h"

namespace pistachio::test {
namespace {

constexpr std::array kComparisons = {std::pair{Comparison::Equal, "="},   std::pair{Comparison::NotEqual, "<>"},
                                     std::pair{Comparison::Less, "<"},    std::pair{Comparison::LessEqual, "<="},
                                     std::pair{Comparison::Greater, ">"}, std::pair{Comparison::GreaterEqual, ">="}};

FileSpec scan_file(int keep_every, int first) {
  FileSpec spec;
  spec.columns = all_columns(keep_every, first);
  spec.rows = 1500;
  spec.row_group_rows = 600;
  spec.page_bytes = 700;
  spec.codec = parquet::Compression::SNAPPY;
  spec.page_index = first % 2 == 0;
  spec.bloom_filters = first % 3 == 0;
  spec.seed = static_cast<uint64_t>(first) + 11;
  return spec;
}

ScalarValue scalar_of(const ExpectedColumn& column, int64_t row) {
  if (column.type().is_text()) return ScalarValue::of_text(column.type(), column.text(row));
  if (column.type().is_floating()) return ScalarValue::of_floating(column.type(), column.floating(row));
  return ScalarValue::of_integer(column.type(), column.number(row));
}

// Text that denotes exactly this value. REAL needs the digits of a double: a constant becomes REAL only when it is compared.
std::string constant_text(const ScalarValue& value) {
  return value.type.is_floating() && std::isfinite(value.floating) ? fmt::format("{}", value.floating) : value.to_string();
}

bool passes(Comparison comparison, std::strong_ordering order) {
  switch (comparison) {
    case Comparison::Equal: return order == 0;
    case Comparison::NotEqual: return order != 0;
    case Comparison::Less: return order < 0;
    case Comparison::LessEqual: return order <= 0;
    case Comparison::Greater: return order > 0;
    case Comparison::GreaterEqual: return order >= 0;
  }
  return false;
}

// Rows that a filter must select: NULL never passes.
std::vector<int64_t> matching_rows(const ExpectedColumn& column, Comparison comparison, const ScalarValue& constant) {
  std::vector<int64_t> rows;
  for (int64_t row = 0; row < column.rows(); ++row) {
    if (!column.is_null(row) && passes(comparison, compare(scalar_of(column, row), constant))) rows.push_back(row);
  }
  return rows;
}

// Compares the chunks of a scan with selected rows of the expected columns, in file order.
class ChunkChecker {
 public:
  ChunkChecker(std::vector<const ExpectedColumn*> columns, std::vector<int64_t> rows)
      : columns_(std::move(columns)), rows_(std::move(rows)) {}

  void check(const Chunk& chunk) {
    ASSERT_EQ(chunk.column_count(), columns_.size());
    ASSERT_LE(done_ + static_cast<size_t>(chunk.rows()), rows_.size());
    auto begin = rows_.begin() + static_cast<std::ptrdiff_t>(done_);
    std::vector<int64_t> part(begin, begin + chunk.rows());
    for (size_t i = 0; i < columns_.size(); ++i) {
      auto difference = columns_[i]->first_difference(chunk.column(i), part);
      EXPECT_EQ(difference, std::nullopt) << "column " << i;
    }
    done_ += static_cast<size_t>(chunk.rows());
  }
  void check_complete() const { EXPECT_EQ(done_, rows_.size()); }

 private:
  std::vector<const ExpectedColumn*> columns_;
  std::vector<int64_t> rows_;
  size_t done_ = 0;
};

std::vector<int64_t> all_rows(int64_t count) {
  std::vector<int64_t> rows(static_cast<size_t>(count));
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int64_t>(i);
  return rows;
}

std::vector<ExpectedColumn> expected_columns(const FileSpec& spec, const arrow::Table& table) {
  std::vector<ExpectedColumn> columns;
  for (size_t i = 0; i < spec.columns.size(); ++i) {
    columns.emplace_back(*table.column(static_cast<int>(i)), spec.columns[i].stored.expected);
  }
  return columns;
}

TEST(TableScan, AllColumnsInEveryChunkSize) {
  TemporaryFolder folder;
  FileSpec spec = scan_file(5, 1);
  auto bytes = make_parquet_file(spec);
  write_file(folder.file("a.parquet"), *bytes);
  auto columns = expected_columns(spec, *read_with_arrow(bytes));
  std::vector<const ExpectedColumn*> wanted;
  for (const auto& column : columns) wanted.push_back(&column);
  for (int64_t chunk_rows : {1024, 1500, 131072}) {
    Settings settings = scan_test_settings();
    settings.chunk_rows = chunk_rows;
    ScanHarness harness(settings);
    ChunkChecker checker(wanted, all_rows(spec.rows));
    auto outcome = harness.scan({folder.file("a.parquet")}, {}, [&](const ScanPlan&, const Chunk& chunk) {
      EXPECT_LE(chunk.rows(), chunk_rows);
      checker.check(chunk);
    });
    checker.check_complete();
    EXPECT_EQ(outcome.rows, spec.rows);
  }
}

// One filter per column, with a constant that occurs in it, rotating through all comparisons; another column is selected along.
class TableScanFilters : public testing::TestWithParam<int> {};

TEST_P(TableScanFilters, AgreeWithPlainEvaluation) {
  constexpr int kParts = 6;
  TemporaryFolder folder;
  FileSpec spec = scan_file(kParts, GetParam());
  auto bytes = make_parquet_file(spec);
  write_file(folder.file("a.parquet"), *bytes);
  auto columns = expected_columns(spec, *read_with_arrow(bytes));
  std::mt19937_64 random(spec.seed);
  Settings settings = scan_test_settings();
  settings.late_materialization = GetParam() % 2 == 0;
  settings.gpu_reads = GetParam() % 3 == 0 ? GpuReads::Staged : GpuReads::Registered;
  settings.chunk_rows = 1024;
  ScanHarness harness(settings);
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].type().kind() == TypeKind::Interval) continue;
    size_t other = random() % columns.size();
    std::vector<int64_t> candidates;
    for (int64_t row = 0; row < columns[i].rows(); ++row) {
      if (!columns[i].is_null(row)) candidates.push_back(row);
    }
    for (size_t turn = 0; turn < 2; ++turn) {
      auto [comparison, text] = kComparisons[(i + turn * 3) % kComparisons.size()];
      if (candidates.empty()) continue;
      ScalarValue constant = scalar_of(columns[i], candidates[random() % candidates.size()]);
      if (constant.to_string().find("BC") != std::string::npos && !constant.is_text()) continue;  // such a constant cannot be written
      SCOPED_TRACE(fmt::format("{} {} {}", spec.columns[i].name, text, constant_text(constant)));
      ScanRequest request;
      request.columns = {spec.columns[i].name, spec.columns[other].name};
      request.filters = {{spec.columns[i].name, comparison, constant_text(constant)}};
      const std::vector<int64_t> matching = matching_rows(columns[i], comparison, constant);
      ChunkChecker checker({&columns[i], &columns[other]}, matching);
      try {
        harness.scan({folder.file("a.parquet")}, request, [&](const ScanPlan&, const Chunk& chunk) { checker.check(chunk); });
        checker.check_complete();
        for (at::Device device : scan_devices()) {
          ChunkChecker together({&columns[i], &columns[other]}, matching);
          auto outcome = harness.scan_together(
              {folder.file("a.parquet")}, request, [&](const ScanPlan&, const Chunk& chunk) { together.check(chunk); }, device);
          together.check_complete();
          EXPECT_EQ(outcome.rows, static_cast<int64_t>(matching.size()));
        }
      } catch (const std::exception& problem) {
        ADD_FAILURE() << problem.what();
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Parts, TableScanFilters, testing::Range(0, 6));

// A test of two columns, alone and after a filter on one of them, keeps the rows that it keeps of the plain columns.
TEST_P(TableScanFilters, TestsAgreeWithPlainEvaluation) {
  TemporaryFolder folder;
  FileSpec spec = scan_file(6, GetParam());
  auto bytes = make_parquet_file(spec);
  write_file(folder.file("a.parquet"), *bytes);
  auto columns = expected_columns(spec, *read_with_arrow(bytes));
  std::mt19937_64 random(spec.seed);
  Settings settings = scan_test_settings();
  settings.late_materialization = GetParam() % 2 == 0;
  settings.chunk_rows = 1024;
  ScanHarness harness(settings);
  const RowTest passes = [](const std::vector<Column>& keys) {
    const at::Tensor kept = hash_rows(keys).bitwise_and(3).eq(0);
    // Now and then a test does not pay.
    return kept.numel() % 3 == 0 ? at::Tensor() : kept;
  };
  const RowTest passes_exactly = [](const std::vector<Column>& keys) { return hash_rows(keys).bitwise_and(3).eq(0); };
  for (size_t i = 0; i < columns.size(); ++i) {
    const size_t other = random() % columns.size();
    SCOPED_TRACE(fmt::format("{} and {}", spec.columns[i].name, spec.columns[other].name));
    ScanRequest request;
    request.columns = {spec.columns[i].name, spec.columns[other].name};
    std::vector<int64_t> matching;
    int64_t row = 0;
    harness.scan({folder.file("a.parquet")}, request, [&](const ScanPlan&, const Chunk& chunk) {
      const at::Tensor kept = passes_exactly({chunk.column(0), chunk.column(1)});
      for (int64_t place = 0; place < chunk.rows(); ++place, ++row) {
        if (kept[place].item<bool>()) matching.push_back(row);
      }
    });
    request.tests = {{request.columns, passes_exactly}};
    ChunkChecker checker({&columns[i], &columns[other]}, matching);
    harness.scan({folder.file("a.parquet")}, request, [&](const ScanPlan&, const Chunk& chunk) { checker.check(chunk); });
    checker.check_complete();
    request.tests = {{request.columns, passes}, {request.columns, passes_exactly}};
    request.filters = {{spec.columns[0].name, Comparison::NotEqual, "1"}};
    if (columns[0].type().kind() != TypeKind::Integer) continue;
    std::erase_if(matching, [&](int64_t at) { return columns[0].is_null(at) || columns[0].number(at) == 1; });
    ChunkChecker filtered({&columns[i], &columns[other]}, matching);
    harness.scan({folder.file("a.parquet")}, request, [&](const ScanPlan&, const Chunk& chunk) { filtered.check(chunk); });
    filtered.check_complete();
  }
}

TEST(TableScan, FilterThatOnlyPrunesLeavesRowsToTests) {
  TemporaryFolder folder;
  write_sample_file(folder.file("a.parquet"), SampleFile{.rows = 5'000, .row_group_rows = 1'000});
  ScanHarness harness(scan_test_settings());
  ScanRequest request;
  request.columns = {"id"};
  request.filters = {{"id", Comparison::GreaterEqual, "2500", true}};
  auto outcome = harness.scan({folder.file("a.parquet")}, request);
  EXPECT_EQ(outcome.pruned_row_groups, 2);
  request.tests = {{{"id"}, [](const std::vector<Column>& ids) { return decode_dictionary(ids[0]).values().ge(2500); }}};
  EXPECT_EQ(harness.scan({folder.file("a.parquet")}, request).rows, 2'500);
}

std::shared_ptr<const ScanThreshold> ids_below(int64_t id) {
  return std::make_shared<const ScanThreshold>(
      ScanThreshold{{ColumnFilter::Kind::Compare, Comparison::Less, ScalarValue::of_integer(TypeKind::BigInt, id)}, false});
}

TEST(TableScan, ThresholdPrunesRowGroupsAndRows) {
  TemporaryFolder folder;
  write_sample_file(folder.file("a.parquet"), SampleFile{.rows = 5'000, .row_group_rows = 1'000});
  ScanHarness harness(scan_test_settings());
  ScanRequest request;
  request.threshold = ScanRequest::Threshold{"id", true, false, [] { return ids_below(1'500); }};
  std::vector<int64_t> first_ids;
  auto outcome = harness.scan({folder.file("a.parquet")}, request, [&](const ScanPlan& plan, const Chunk& chunk) {
    EXPECT_EQ(plan.output_name(0), "id");
    first_ids.push_back(decode_dictionary(chunk.column(0)).values()[0].item<int64_t>());
  });
  EXPECT_EQ(outcome.rows, 1'500);
  // The row group with the greatest values comes first.
  EXPECT_EQ(first_ids, (std::vector<int64_t>{1'000, 0}));
}

TEST(TableScan, ThresholdIsAppliedAgainBeforeDelivery) {
  TemporaryFolder folder;
  write_sample_file(folder.file("a.parquet"), SampleFile{.rows = 5'000, .row_group_rows = 5'000});
  for (bool late : {true, false}) {
    Settings settings = scan_test_settings();
    settings.chunk_rows = 1'000;
    settings.late_materialization = late;
    ScanHarness harness(settings);
    ScanRequest request;
    // Stricter at each look: when the unit is fetched, when its turn comes, and before each chunk.
    std::atomic<int64_t> looks = 0;
    request.threshold = ScanRequest::Threshold{"id", false, false, [&] { return ids_below(std::max<int64_t>(4'200, 4'900 - 100 * looks++)); }};
    auto outcome = harness.scan({folder.file("a.parquet")}, request);
    EXPECT_GE(looks, 8);
    EXPECT_EQ(outcome.rows, 4'200);
  }
}

TEST(TableScan, SeveralFilesInOrder) {
  TemporaryFolder folder;
  FileSpec spec;
  spec.columns = {{"v", stored_type("int64"), parquet::Encoding::PLAIN, NullPattern::Some}};
  spec.rows = 500;
  std::vector<std::shared_ptr<arrow::ChunkedArray>> parts;
  for (const char* name : {"a.parquet", "b.parquet", "c.parquet"}) {
    ++spec.seed;
    auto bytes = make_parquet_file(spec);
    write_file(folder.file(name), *bytes);
    parts.push_back(read_with_arrow(bytes)->column(0));
  }
  arrow::ArrayVector arrays;
  for (const auto& part : parts) arrays.insert(arrays.end(), part->chunks().begin(), part->chunks().end());
  ExpectedColumn expected(arrow::ChunkedArray(arrays), TypeKind::BigInt);
  ScanHarness harness(scan_test_settings());
  for (const std::string& pattern : {folder.file("*.parquet"), folder.file("")}) {
    ChunkChecker checker({&expected}, all_rows(1500));
    harness.scan({pattern}, {}, [&](const ScanPlan&, const Chunk& chunk) { checker.check(chunk); });
    checker.check_complete();
    ChunkChecker together({&expected}, all_rows(1500));
    harness.scan_together({pattern}, {}, [&](const ScanPlan&, const Chunk& chunk) { together.check(chunk); });
    together.check_complete();
  }
}

// A device copies all encodings, compressed or not, from the page cache as well as from memory they were read into.
class TableScanRegistered : public testing::TestWithParam<int> {};

TEST_P(TableScanRegistered, HasRowsOfStagedFile) {
  TemporaryFolder folder;
  const std::string path = folder.file("a.parquet");
  FileSpec spec = scan_file(6, GetParam());
  if (GetParam() % 2 == 1) spec.codec = parquet::Compression::UNCOMPRESSED;
  auto bytes = make_parquet_file(spec);
  write_file(path, *bytes);
  auto columns = expected_columns(spec, *read_with_arrow(bytes));
  for (GpuReads reads : {GpuReads::Registered, GpuReads::Staged}) {
    Settings settings = scan_test_settings();
    settings.gpu_reads = reads;
    ScanHarness harness(settings);
    int64_t mapped_bytes = 0;
    for (size_t i = 0; i < columns.size(); ++i) {
      SCOPED_TRACE(fmt::format("{} {}", spec.columns[i].name, reads == GpuReads::Registered ? "registered" : "staged"));
      ScanRequest request;
      request.columns = {spec.columns[i].name};
      for (at::Device device : scan_devices()) {
        ChunkChecker checker({&columns[i]}, all_rows(spec.rows));
        auto check = [&](const ScanPlan&, const Chunk& chunk) { checker.check(chunk); };
        mapped_bytes += harness.scan_together({path}, request, check, device).mapped_bytes;
        checker.check_complete();
      }
    }
    EXPECT_EQ(mapped_bytes > 0, reads == GpuReads::Registered);
  }
}

INSTANTIATE_TEST_SUITE_P(Parts, TableScanRegistered, testing::Range(0, 6));

// The settings of the slower variants of the published comparison, for a device.
TEST(TableScan, SlowerDeviceReadersDeliverTheSameRows) {
  TemporaryFolder folder;
  const std::string path = folder.file("sales.parquet");
  constexpr int64_t kRows = 20'000;
  write_sample_file(path, {kRows, 3'000});
  for (ReaderMode reader : {ReaderMode::Blocking, ReaderMode::Chunked}) {
    for (bool pinned : {false, true}) {
      Settings settings = scan_test_settings();
      settings.reader = reader;
      settings.overlap = false;
      settings.pinned_memory = pinned;
      ScanHarness harness(settings);
      for (at::Device device : scan_devices()) {
        const ScanHarness::Outcome outcome = harness.scan_together({path}, {}, {}, device);
        EXPECT_EQ(outcome.rows, kRows);
        EXPECT_EQ(outcome.chunks, outcome.row_groups);
      }
    }
  }
}

// What the host needs of a registered file is read from the file, not from the mapping: that would end the process by a signal.
TEST(TableScan, RegisteredFileTruncatedWhileItIsRead) {
  TemporaryFolder folder;
  const std::string path = folder.file("sales.parquet");
  Settings settings = scan_test_settings();
  settings.memory_limit = int64_t{1} << 30;
  settings.gpu_reads = GpuReads::Registered;
  for (at::Device device : scan_devices()) {
    if (device.is_cpu()) continue;  // copies from the mapping itself
    write_sample_file(path, {200'000, 50'000});
    ScanHarness harness(settings);
    int64_t rows = 0;
    auto truncate = [&](const ScanPlan&, const Chunk& chunk) {
      rows += chunk.rows();
      std::filesystem::resize_file(path, 4096);
    };
    try {
      harness.scan_together({path}, {}, truncate, device);
      EXPECT_EQ(rows, 200'000);  // all row groups were read before the first chunk arrived
    } catch (const DataError& error) {
      EXPECT_NE(std::string(error.what()).find("truncated"), std::string::npos) << error.what();
    }
  }
}

// A single large row group is split into parts for several threads; the parts have exactly the rows of the file.
TEST(TableScan, FewLargeRowGroupsAreSplitForThreads) {
  TemporaryFolder folder;
  constexpr int64_t kRows = 600'000;
  write_sample_file(folder.file("sales.parquet"), {kRows, kRows});
  Settings settings = scan_test_settings();
  settings.memory_limit = int64_t{1} << 30;
  for (auto [threads, parts] : {std::pair{1, 2}, std::pair{2, 4}, std::pair{64, 4}}) {
    settings.threads = threads;
    ScanHarness harness(settings);
    int64_t next = 0;
    size_t units = 0;
    ScanRequest request;
    request.columns = {"id", "amount", "remark"};
    harness.scan({folder.file("sales.parquet")}, request, [&](const ScanPlan& plan, const Chunk& chunk) {
      units = plan.units.size();
      at::Tensor ids = decode_dictionary(chunk.column(0)).values();
      ASSERT_TRUE(at::equal(ids, at::arange(next, next + chunk.rows(), at::kLong)));
      next += chunk.rows();
    });
    EXPECT_EQ(next, kRows);
    EXPECT_EQ(units, static_cast<size_t>(parts)) << threads << " threads";
  }
}

// Several lanes yield every row once, in any order, within the memory limit.
TEST(TableScan, SeveralLanesGiveEveryRowOnce) {
  TemporaryFolder folder;
  constexpr int64_t kRows = 200'000;
  write_sample_file(folder.file("sales.parquet"), {kRows, 15'000});
  for (bool overlap : {true, false}) {
    for (int64_t memory_limit : {int64_t{20} << 20, int64_t{1} << 30}) {
      for (int64_t first : {int64_t{0}, int64_t{77'777}}) {
        SCOPED_TRACE(fmt::format("overlap {}, memory {}, from {}", overlap, memory_limit, first));
        Settings settings = scan_test_settings();
        settings.threads = 4;
        settings.chunk_rows = 4'000;
        settings.overlap = overlap;
        settings.memory_limit = memory_limit;
        ScanHarness harness(settings);
        ScanRequest request;
        request.columns = {"id", "remark"};
        if (first > 0) request.filters = {{"id", Comparison::GreaterEqual, fmt::format("{}", first)}};
        at::Tensor seen = at::zeros({kRows}, at::kLong);
        auto outcome = harness.scan_in_any_order({folder.file("sales.parquet")}, request, [&](const ScanPlan&, const Chunk& chunk) {
          seen.index_add_(0, decode_dictionary(chunk.column(0)).values(), at::ones({chunk.rows()}, at::kLong));
        });
        EXPECT_EQ(outcome.rows, kRows - first);
        EXPECT_TRUE(seen.slice(0, 0, first).eq(0).all().item<bool>());
        EXPECT_TRUE(seen.slice(0, first).eq(1).all().item<bool>());
        EXPECT_LE(harness.peak_memory(), memory_limit);
      }
    }
  }
}

// One bad page stops all lanes and reaches the receiver; a failing receiver stops the lanes.
TEST(TableScan, ErrorStopsEveryLane) {
  TemporaryFolder folder;
  write_sample_file(folder.file("sales.parquet"), {100'000, 5'000});
  Settings settings = scan_test_settings();
  settings.threads = 4;
  ScanHarness harness(settings);
  CancelSource deadline({}, std::chrono::steady_clock::now() + std::chrono::seconds(60));
  auto fail = [&](const ScanPlan&, const Chunk&) { throw UserError("enough"); };
  EXPECT_THROW(harness.scan_in_any_order({folder.file("sales.parquet")}, {}, fail, deadline.token()), UserError);
  std::FILE* file = std::fopen(folder.file("sales.parquet").c_str(), "r+b");
  ASSERT_NE(file, nullptr);
  std::fseek(file, 600'000, SEEK_SET);
  for (int i = 0; i < 5'000; ++i) std::fputc(0xff, file);
  std::fclose(file);
  EXPECT_THROW(harness.scan_in_any_order({folder.file("sales.parquet")}, {}, {}, deadline.token()), DataError);
}

TEST(TableScan, PageIndexesCountAsKeptMetadata) {
  TemporaryFolder folder;
  write_sample_file(folder.file("sales.parquet"), {200'000, 50'000});
  ScanHarness harness(scan_test_settings());
  ScanRequest request;
  harness.scan({folder.file("sales.parquet")}, request);
  int64_t footer_alone = harness.metadata_cache().statistics().bytes;
  request.filters = {{"id", Comparison::Less, "100000"}};
  harness.scan({folder.file("sales.parquet")}, request);
  EXPECT_GT(harness.metadata_cache().statistics().bytes, footer_alone);
}

// The blocking reader holds all units at once, so missing memory is never released. A deadline turns a hang into a failure.
TEST(TableScan, BlockingReaderFailsIfUnitDoesNotFit) {
  TemporaryFolder folder;
  write_sample_file(folder.file("sales.parquet"), {300'000, 25'000});
  Settings settings = scan_test_settings();
  settings.reader = ReaderMode::Blocking;
  settings.memory_limit = 16 << 20;
  CancelSource deadline({}, std::chrono::steady_clock::now() + std::chrono::seconds(20));
  EXPECT_THROW(ScanHarness(settings).scan({folder.file("sales.parquet")}, {}, {}, deadline.token()), OutOfMemory);
  settings.memory_limit = 256 << 20;
  EXPECT_EQ(ScanHarness(settings).scan({folder.file("sales.parquet")}, {}).rows, 300'000);
}

TEST(TableScan, NestedColumnsAreRefusedByName) {
  TemporaryFolder folder;
  auto bytes = make_nested_parquet_file(800, 300);
  write_file(folder.file("n.parquet"), *bytes);
  auto table = read_with_arrow(bytes);
  ScanHarness harness(scan_test_settings());
  ExpectedColumn id(*flat_leaf(*table, "id"), TypeKind::BigInt);
  ExpectedColumn label(*flat_leaf(*table, "point.label"), TypeKind::Varchar);
  ChunkChecker checker({&id, &label}, all_rows(800));
  harness.scan({folder.file("n.parquet")}, {.columns = {"id", "point.label"}},
               [&](const ScanPlan&, const Chunk& chunk) { checker.check(chunk); });
  checker.check_complete();
  for (const char* name : {"tags", "attributes"}) {
    try {
      harness.scan({folder.file("n.parquet")}, {.columns = {name}});
      ADD_FAILURE() << name << " was read";
    } catch (const UserError& problem) {
      EXPECT_NE(problem.message().find(name), std::string::npos) << problem.message();
    }
  }
}

// The metadata cache must not mistake the new file for the old one.
TEST(TableScan, ReplacedFileOfSameSizeIsReadAgain) {
  TemporaryFolder folder;
  const std::string path = folder.file("r.parquet");
  ScanHarness harness(scan_test_settings());
  const timespec times[2] = {{1'700'000'000, 0}, {1'700'000'000, 0}};
  int64_t size = -1;
  for (bool in_place : {false, true}) {
    for (const char* name : {"a", "b", "c"}) {
      FileSpec spec;
      spec.columns = {{name, stored_type("int64"), parquet::Encoding::PLAIN, NullPattern::Required, 50}};
      spec.rows = 100;
      auto bytes = make_parquet_file(spec);
      if (size < 0) size = bytes->size();
      ASSERT_EQ(bytes->size(), size);
      const std::string target = in_place ? path : path + ".new";
      write_file(target, *bytes);
      ASSERT_EQ(::utimensat(AT_FDCWD, target.c_str(), times, 0), 0);
      ASSERT_EQ(::rename(target.c_str(), path.c_str()), 0);  // a no-op if in place
      EXPECT_EQ(harness.scan({path}, {.columns = {name}}).rows, 100);
      // Longer than a tick of the clock that the file system uses.
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
}

// Mutations again, through a whole scan with a filter: detects reads past the end, wrong ranges and lost wake-ups. A deadline turns a hang
// into a failure.
TEST(TableScan, DamagedFilesAreReadOrRefused) {
  TemporaryFolder folder;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr uint64_t mutations = 100;
#else
  constexpr uint64_t mutations = 500;
#endif
  int read = 0, refused = 0;
  for (int first = 0; first < 4; ++first) {
    FileSpec spec = scan_file(97, first);
    spec.columns.push_back({"key", stored_type("int32"), parquet::Encoding::PLAIN, NullPattern::Some, 50});
    FileMutator mutator(make_parquet_file(spec));
    Settings settings = scan_test_settings();
    settings.memory_limit = 64 << 20;
    ScanHarness harness(settings);
    for (uint64_t seed = 1; seed <= mutations; ++seed) {
      auto mutant = mutator.mutate(seed);
      SCOPED_TRACE(fmt::format("file {}, seed {}, {}", first, seed, mutant.what));
      write_file(folder.file("m.parquet"), arrow::Buffer(mutant.bytes.data(), static_cast<int64_t>(mutant.bytes.size())));
      ScanRequest request;
      if (seed % 2) request.filters = {{"key", Comparison::Greater, "0"}};
      CancelSource deadline({}, std::chrono::steady_clock::now() + std::chrono::seconds(20));
      try {
        harness.scan_in_any_order({folder.file("m.parquet")}, request, {}, deadline.token());
        ++read;
      } catch (const DataError&) {
        ++refused;
      } catch (const UserError&) {
        ++refused;
      } catch (const OutOfMemory&) {
        ++refused;
      } catch (const std::exception& problem) {
        ADD_FAILURE() << typeid(problem).name() << ": " << problem.what();
      }
    }
    EXPECT_LE(harness.peak_memory(), settings.memory_limit);
  }
  EXPECT_GT(read, 20);
  EXPECT_GT(refused, 20);
}

}  // namespace
}  // namespace pistachio::test
