// Every stored type x encoding x NULL pattern (one column each) in files of every codec, page version and several sizes, read by the
// engine's column readers and compared with Arrow's own reader. Deterministic; the test name identifies the file. With
// PISTACHIO_MATRIX_THIRD=0, 1 or 2 each file has a third of its columns; the three shapes have different thirds.
#include <arrow/api.h>
#include <arrow/util/compression.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kernels/ops/kernel_mode.h"
#include "tests/parquet/arrow_compare.h"
#include "tests/parquet/in_memory_file.h"
#include "tests/parquet/parquet_file_factory.h"
#include "tests/parquet/scan_devices.h"

namespace pistachio::test {
namespace {

struct FileVariant {
  std::string name;
  FileSpec spec;
  InMemoryFile::Options reading;
  kernels::KernelMode mode = kernels::KernelMode::Tuned;
};

// The sanitizer is slow; every column is still in some file.
#if defined(__SANITIZE_ADDRESS__)
constexpr int kThinning = 4;
#else
constexpr int kThinning = 1;
#endif

struct Share {
  int keep_every = 1;
  int first = 0;
};

Share share_of_environment() {
  const char* third = std::getenv("PISTACHIO_MATRIX_THIRD");
  return third ? Share{3, std::atoi(third)} : Share{};
}

// The full product of codec x page version x shape; independent options are rotated along. How a page was compressed does not affect its
// decoding, so the other codecs get a third of the columns each, in rotation.
std::vector<FileVariant> file_variants() {
  struct Shape {
    std::string name;
    int64_t rows, row_group_rows, page_bytes, dictionary_bytes, strip_rows;
  };
  const std::vector<Shape> shapes = {
      {"one_group", 900, 5000, 1 << 20, 1 << 20, 5000},
      {"small_pages", 1100, 400, 200, 1 << 20, 130},
      {"fallback", 700, 700, 600, 150, 64},
  };
  std::vector<FileVariant> variants;
  const Share share = share_of_environment();
  uint64_t seed = 1;
  for (auto codec : writable_codecs()) {
    for (bool pages_v2 : {false, true}) {
      for (const Shape& shape : shapes) {
        FileSpec spec;
        bool all_of_them = codec == parquet::Compression::UNCOMPRESSED || codec == parquet::Compression::SNAPPY;
        int keep_every = kThinning * share.keep_every * (all_of_them ? 1 : 3);
        spec.columns = all_columns(keep_every, (static_cast<int>(seed) + share.first) % keep_every);
        spec.rows = shape.rows;
        spec.row_group_rows = shape.row_group_rows;
        spec.page_bytes = shape.page_bytes;
        spec.dictionary_bytes = shape.dictionary_bytes;
        spec.codec = codec;
        spec.pages_v2 = pages_v2;
        spec.format_v1 = seed % 5 == 0;
        spec.page_index = seed % 2 == 0;
        spec.checksums = seed % 3 == 0;
        spec.seed = seed;
        std::string name = fmt::format("{}_{}_{}", arrow::util::Codec::GetCodecAsString(codec), pages_v2 ? "v2" : "v1", shape.name);
        variants.push_back({name, spec, {.strip_rows = shape.strip_rows, .use_offset_index = spec.page_index}});
        ++seed;
      }
    }
  }
  // The composite kernel bodies, once per page version and shape.
  for (size_t i = 0; i < 2 * shapes.size(); ++i) {
    FileVariant variant = variants[2 * shapes.size() + i];
    variant.name += "_composite";
    variant.mode = kernels::KernelMode::Composite;
    variants.push_back(variant);
  }
  return variants;
}

class ParquetMatrix : public testing::TestWithParam<FileVariant> {};

struct ColumnComparison {
  int64_t rows = 0;  // compared
  std::string difference;
};

ColumnComparison compare_column(const InMemoryFile& file, int index, const ExpectedColumn& expected, const InMemoryFile::Options& options) {
  ColumnComparison comparison;
  for (size_t group = 0; group < file.footer().row_groups.size(); ++group) {
    int64_t first_row = file.footer().row_groups[group].first_row;
    for (const ReadStrip& strip : file.read(index, static_cast<int>(group), options)) {
      std::vector<int64_t> rows = strip.rows;
      for (int64_t& row : rows) row += first_row;
      comparison.rows += static_cast<int64_t>(rows.size());
      if (auto difference = expected.first_difference(strip.column, rows)) {
        comparison.difference =
            fmt::format("{}, row group {}: {}", file.footer().columns[static_cast<size_t>(index)].name, group, *difference);
        return comparison;
      }
    }
  }
  return comparison;
}

TEST_P(ParquetMatrix, AgreesWithArrow) {
  const auto& [name, spec, reading, mode] = GetParam();
  SCOPED_TRACE(spec.to_string());
  kernels::KernelModeGuard guard(mode);
  auto bytes = make_parquet_file(spec);
  auto table = read_with_arrow(bytes);
  InMemoryFile file(*bytes);
  ASSERT_EQ(file.footer().rows, spec.rows);
  ASSERT_EQ(file.footer().columns.size(), spec.columns.size());
  int64_t masked_rows = 0;
  for (size_t i = 0; i < spec.columns.size(); ++i) {
    const ColumnSpec& column = spec.columns[i];
    ASSERT_EQ(file.footer().columns[i].name, column.name);
    ExpectedColumn expected(*table->column(static_cast<int>(i)), column.stored.expected);
    InMemoryFile::Options masked = reading;
    masked.mask_seed = spec.seed;
    try {
      ColumnComparison all = compare_column(file, static_cast<int>(i), expected, reading);
      EXPECT_EQ(all.difference, "");
      EXPECT_TRUE(all.rows == spec.rows || !all.difference.empty()) << column.name << ": " << all.rows << " rows were read";
      ColumnComparison some = compare_column(file, static_cast<int>(i), expected, masked);
      EXPECT_EQ(some.difference, "");
      masked_rows += some.rows;
      for (at::Device device : scan_devices()) {
        for (const InMemoryFile::Options& options : {reading, masked}) {
          InMemoryFile::WholeColumn whole = file.read_together(static_cast<int>(i), options, device);
          EXPECT_EQ(whole.column.rows(), static_cast<int64_t>(whole.rows.size()));
          EXPECT_EQ(expected.first_difference(whole.column, whole.rows).value_or(""), "") << column.name << " together";
        }
      }
    } catch (const std::exception& problem) {
      ADD_FAILURE() << column.name << ": " << problem.what();
    }
  }
  EXPECT_GT(masked_rows, 0);
}

INSTANTIATE_TEST_SUITE_P(Files, ParquetMatrix, testing::ValuesIn(file_variants()),
                         [](const auto& instance) { return instance.param.name; });

TEST(ParquetReading, LongRunsAndManyPages) {
  FileSpec spec;
  for (const char* type : {"int32", "int64", "double", "string", "decimal_38_10_fixed16", "boolean"}) {
    for (auto encoding : encodings_of(stored_type(type).physical)) {
      std::string name = fmt::format("{}|{}", type, parquet::EncodingToString(encoding));
      spec.columns.push_back({name, stored_type(type), encoding, NullPattern::Runs, 3000});
    }
  }
  spec.rows = 120'000;
  spec.row_group_rows = 70'000;
  spec.page_bytes = 20'000;
  spec.codec = parquet::Compression::SNAPPY;
  auto bytes = make_parquet_file(spec);
  auto table = read_with_arrow(bytes);
  InMemoryFile file(*bytes);
  for (size_t i = 0; i < spec.columns.size(); ++i) {
    ExpectedColumn expected(*table->column(static_cast<int>(i)), spec.columns[i].stored.expected);
    ColumnComparison comparison = compare_column(file, static_cast<int>(i), expected, {.strip_rows = 16'384});
    EXPECT_EQ(comparison.difference, "");
    EXPECT_EQ(comparison.rows, spec.rows);
  }
}

TEST(ParquetReading, OnlyNestedColumnsAreRejected) {
  auto bytes = make_nested_parquet_file(500, 200);
  auto table = read_with_arrow(bytes);
  InMemoryFile file(*bytes);
  auto check = [&](const std::string& name, LogicalType type) {
    int index = file.footer().find_column(name);
    ASSERT_GE(index, 0) << name;
    ColumnComparison comparison = compare_column(file, index, ExpectedColumn(*flat_leaf(*table, name), type), {.strip_rows = 64});
    EXPECT_EQ(comparison.difference, "");
    EXPECT_EQ(comparison.rows, 500);
  };
  check("id", TypeKind::BigInt);
  check("name", TypeKind::Varchar);
  check("point.x", TypeKind::Integer);
  check("point.label", TypeKind::Varchar);
  check("point.inner.z", TypeKind::Double);
  int unsupported = 0;
  for (const ParquetColumn& column : file.footer().columns) {
    if (column.is_supported()) continue;
    ++unsupported;
    EXPECT_TRUE(column.name.starts_with("tags") || column.name.starts_with("attributes")) << column.name;
  }
  EXPECT_EQ(unsupported, 3);  // tags, and the map's key and value
}

// The matrix would detect it: another file's values differ in every column that has values.
TEST(ParquetReading, WrongValuesAreDetected) {
  FileSpec spec;
  spec.columns = all_columns();
  spec.rows = 300;
  auto bytes = make_parquet_file(spec);
  spec.seed = 2;
  auto other = read_with_arrow(make_parquet_file(spec));
  InMemoryFile file(*bytes);
  for (size_t i = 0; i < spec.columns.size(); ++i) {
    if (spec.columns[i].nulls == NullPattern::All) continue;
    ExpectedColumn expected(*other->column(static_cast<int>(i)), spec.columns[i].stored.expected);
    EXPECT_NE(compare_column(file, static_cast<int>(i), expected, {}).difference, "") << spec.columns[i].name;
  }
}

TEST(ParquetReading, FileWithoutRows) {
  FileSpec spec;
  spec.columns = all_columns();
  spec.rows = 0;
  InMemoryFile file(*make_parquet_file(spec));
  EXPECT_EQ(file.footer().rows, 0);
  EXPECT_EQ(file.footer().columns.size(), spec.columns.size());
}

}  // namespace
}  // namespace pistachio::test
