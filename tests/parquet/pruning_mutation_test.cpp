// Seeded damage to the data that filters use to skip rows: footer, statistics, page indexes and bloom filters of good files. A filter must
// find the same rows as without pruning, or the file is rejected with DataError. Bounds that became false but look valid cannot be detected
// by any reader: mutants with such bounds are skipped.
// PISTACHIO_MUTATIONS=N runs N mutations per file; a failure names file and seed.
#include <ATen/core/Tensor.h>
#include <arrow/api.h>
#include <arrow/io/memory.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <parquet/arrow/writer.h>
#include <parquet/bloom_filter.h>
#include <parquet/metadata.h>
#include <parquet/page_index.h>
#include <parquet/properties.h>
#include <parquet/schema.h>

#include <cstdlib>
#include <cstring>
#include <random>

#include "base/error.h"
#include "tests/parquet/arrow_status.h"
#include "tests/parquet/in_memory_file.h"
#include "tests/parquet/parquet_file_factory.h"
#include "tests/parquet/scan_harness.h"

namespace pistachio::test {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr uint64_t kDefaultPruningMutations = 200;
#else
constexpr uint64_t kDefaultPruningMutations = 1000;
#endif
constexpr int64_t kFileRows = 300;
constexpr int64_t kRowGroupRows = 150;
constexpr int64_t kPageRows = 25;
constexpr const char* kColumns[] = {"required", "optional"};

// In the optional column, rows 50 to 99 and every seventh row are NULL: pages of NULLs, of both, and of values.
std::optional<int64_t> value_of(size_t column, int64_t row) {
  if (column == 1 && ((row >= 50 && row < 100) || row % 7 == 0)) return std::nullopt;
  return row;
}

std::shared_ptr<arrow::Buffer> make_ordered_file(bool pages_v2) {
  arrow::FieldVector fields;
  arrow::ArrayVector arrays;
  for (size_t column = 0; column < 2; ++column) {
    arrow::Int64Builder builder;
    for (int64_t row = 0; row < kFileRows; ++row) {
      std::optional<int64_t> value = value_of(column, row);
      check(value ? builder.Append(*value) : builder.AppendNull());
    }
    arrays.push_back(check(builder.Finish()));
    fields.push_back(arrow::field(kColumns[column], arrow::int64(), column == 1));
  }
  parquet::WriterProperties::Builder properties;
  properties.disable_dictionary()->enable_write_page_index()->write_batch_size(kPageRows)->data_pagesize(1);
  properties.data_page_version(pages_v2 ? parquet::ParquetDataPageVersion::V2 : parquet::ParquetDataPageVersion::V1);
  for (const char* name : kColumns) properties.enable_bloom_filter(name, parquet::BloomFilterOptions{.ndv = 200});
  auto sink = check(arrow::io::BufferOutputStream::Create());
  check(parquet::arrow::WriteTable(*arrow::Table::Make(arrow::schema(fields), arrays), arrow::default_memory_pool(), sink,
                                          kRowGroupRows, properties.build()));
  return check(sink->Finish());
}

int64_t number_in(const std::string& bytes) {
  int64_t number = 0;
  std::memcpy(&number, bytes.data(), sizeof(number));
  return number;
}

// Whether a value of these rows is outside the bounds.
bool excludes_value(size_t column, int64_t first_row, int64_t rows, int64_t minimum, int64_t maximum) {
  for (int64_t row = first_row; row < first_row + rows; ++row) {
    std::optional<int64_t> value = value_of(column, row);
    if (value && (*value < minimum || *value > maximum)) return true;
  }
  return false;
}

bool index_claims_false_bounds(std::span<const uint8_t> file, const ParquetFooter& footer, const ColumnChunkInfo& chunk, size_t column,
                               int64_t first_row) {
  if (chunk.column_index.length == 0) return false;
  try {
    auto index = parquet::ColumnIndex::Make(*footer.arrow_metadata->schema()->Column(static_cast<int>(column)),
                                            file.data() + chunk.column_index.offset, static_cast<uint32_t>(chunk.column_index.length),
                                            parquet::default_reader_properties());
    for (size_t page = 0; page < index->null_pages().size(); ++page) {
      if (index->null_pages()[page]) continue;
      const std::string& minimum = index->encoded_min_values().at(page);
      const std::string& maximum = index->encoded_max_values().at(page);
      if (minimum.size() != 8 || maximum.size() != 8) continue;
      const int64_t begin = first_row + static_cast<int64_t>(page) * kPageRows;
      if (excludes_value(column, begin, kPageRows, number_in(minimum), number_in(maximum))) return true;
    }
  } catch (const std::exception&) {
    return false;  // no reader can read it
  }
  return false;
}

bool bloom_filter_lacks_value(std::span<const uint8_t> file, const ColumnChunkInfo& chunk, size_t column, int64_t first_row) {
  if (chunk.bloom_filter.offset == 0) return false;
  try {
    auto size = static_cast<int64_t>(file.size()) - chunk.bloom_filter.offset;
    arrow::io::BufferReader stream(std::make_shared<arrow::Buffer>(file.data() + chunk.bloom_filter.offset, size));
    auto filter = parquet::BlockSplitBloomFilter::Deserialize(parquet::default_reader_properties(), &stream);
    for (int64_t row = first_row; row < first_row + kRowGroupRows; ++row) {
      std::optional<int64_t> value = value_of(column, row);
      if (value && !filter.FindHash(filter.Hash(*value))) return true;
    }
  } catch (const std::exception&) {
    return false;
  }
  return false;
}

bool claims_false_bounds(std::span<const uint8_t> file, const ParquetFooter& footer) {
  for (const RowGroupInfo& group : footer.row_groups) {
    for (size_t column = 0; column < group.columns.size(); ++column) {
      const ColumnChunkInfo& chunk = group.columns[column];
      if (chunk.minimum && excludes_value(column, group.first_row, group.rows, static_cast<int64_t>(chunk.minimum->integer),
                                          static_cast<int64_t>(chunk.maximum->integer)))
        return true;
      if (index_claims_false_bounds(file, footer, chunk, column, group.first_row)) return true;
      if (bloom_filter_lacks_value(file, chunk, column, group.first_row)) return true;
    }
  }
  return false;
}

// Damages everything but the data: footer, column indexes, offset indexes and headers of bloom filters. In column indexes mostly the flags
// of NULL pages at the front and the order and counts at the end: most bytes in between are bounds, and false bounds are undetectable.
class IndexMutator {
 public:
  explicit IndexMutator(const arrow::Buffer& file) : bytes_(file.data(), file.data() + file.size()) {
    InMemoryFile good(file);
    uint32_t footer_bytes = 0;
    std::memcpy(&footer_bytes, bytes_.data() + bytes_.size() - 8, 4);
    regions_.resize(6);
    regions_[0].push_back({file.size() - 8 - footer_bytes, footer_bytes});
    for (const RowGroupInfo& group : good.footer().row_groups) {
      for (const ColumnChunkInfo& chunk : group.columns) {
        regions_[1].push_back(chunk.column_index);
        regions_[2].push_back(chunk.offset_index);
        regions_[3].push_back({chunk.bloom_filter.offset, 20});
        constexpr int64_t kFlagBytes = 2 + kRowGroupRows / kPageRows;  // field and list headers, one byte per page
        constexpr int64_t kCountBytes = 12 + kRowGroupRows / kPageRows;
        regions_[4].push_back({chunk.column_index.offset, kFlagBytes});
        regions_[5].push_back({chunk.column_index.end() - kCountBytes, kCountBytes});
      }
    }
  }

  std::vector<uint8_t> mutate(uint64_t seed) const {
    std::mt19937_64 random(seed);
    std::vector<uint8_t> bytes = bytes_;
    const std::vector<ByteRange>& regions = regions_[random() % regions_.size()];
    const ByteRange region = regions[random() % regions.size()];
    for (uint64_t round = 1 + (random() % 4 == 0 ? random() % 4 : 0); round > 0; --round) {
      uint8_t& byte = bytes[static_cast<size_t>(region.offset) + random() % static_cast<size_t>(region.length)];
      switch (random() % 6) {
        case 0: byte = static_cast<uint8_t>(1 + random() % 2); break;  // true and false in a list
        case 1:
        case 2: byte = static_cast<uint8_t>(byte ^ 1u << random() % 8); break;
        case 3: byte = static_cast<uint8_t>(random() % 4); break;
        case 4: byte = static_cast<uint8_t>(random()); break;
        default: {
          // Part of another chunk.
          const ByteRange other = regions[random() % regions.size()];
          std::memmove(bytes.data() + region.offset, bytes_.data() + other.offset, static_cast<size_t>(std::min(region.length, other.length)));
        }
      }
    }
    return bytes;
  }

 private:
  std::vector<uint8_t> bytes_;
  std::vector<std::vector<ByteRange>> regions_;
};

bool passes(Comparison comparison, int64_t value, int64_t constant) {
  switch (comparison) {
    case Comparison::Equal: return value == constant;
    case Comparison::NotEqual: return value != constant;
    case Comparison::Less: return value < constant;
    case Comparison::LessEqual: return value <= constant;
    case Comparison::Greater: return value > constant;
    case Comparison::GreaterEqual: return value >= constant;
  }
  return false;
}

// Whether the values are those of the good file. Damage to the schema may change them.
bool has_good_values(ScanHarness& harness, const std::string& path) {
  int64_t row = 0;
  bool good = true;
  harness.scan({path}, {.columns = {kColumns[0], kColumns[1]}}, [&](const ScanPlan&, const Chunk& chunk) {
    for (int64_t i = 0; i < chunk.rows(); ++i, ++row) {
      for (size_t column = 0; column < 2; ++column) {
        const Column& values = chunk.column(column);
        if (values.type() != LogicalType(TypeKind::BigInt) || row >= kFileRows) {
          good = false;
          return;
        }
        const bool valid = !values.has_validity() || values.validity()[i].item<bool>();
        const std::optional<int64_t> expected = value_of(column, row);
        good = good && valid == expected.has_value() && (!valid || values.values()[i].item<int64_t>() == *expected);
      }
    }
  });
  return good && row == kFileRows;
}

class PruningMutation : public testing::TestWithParam<bool> {};

TEST_P(PruningMutation, FiltersFindEveryRowOrRefuse) {
  TemporaryFolder folder;
  const std::string path = folder.file("m.parquet");
  auto good = make_ordered_file(GetParam());
  IndexMutator mutator(*good);
  Settings settings = scan_test_settings();
  settings.metadata_cache = false;  // mutants follow each other faster than the file system's clock ticks
  ScanHarness harness(settings);
  // The good file: pages as expected, no false bounds, and a filter on its last page skips the others.
  {
    const std::span<const uint8_t> bytes(good->data(), static_cast<size_t>(good->size()));
    EXPECT_FALSE(claims_false_bounds(bytes, InMemoryFile(bytes).footer()));
    write_file(path, *good);
    EXPECT_EQ(harness.scan({path}, {.columns = {kColumns[0]}, .filters = {{kColumns[0], Comparison::Equal, "299"}}}).skipped_pages,
              kRowGroupRows / kPageRows - 1);
  }
  const char* text = std::getenv("PISTACHIO_MUTATIONS");
  const uint64_t mutations = text != nullptr ? std::strtoull(text, nullptr, 10) : kDefaultPruningMutations;
  int compared = 0, false_claims = 0, refused = 0;
  for (uint64_t seed = 1; seed <= mutations; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    std::vector<uint8_t> bytes = mutator.mutate(seed);
    write_file(path, arrow::Buffer(bytes.data(), static_cast<int64_t>(bytes.size())));
    try {
      InMemoryFile file{std::span<const uint8_t>(bytes)};
      if (!has_good_values(harness, path) || claims_false_bounds(bytes, file.footer())) {
        ++false_claims;
        continue;
      }
    } catch (const Error&) {
      ++refused;
      continue;
    }
    std::mt19937_64 random(seed);
    for (int64_t page = 0; page < kFileRows / kPageRows; ++page) {
      const int64_t constant = page * kPageRows + static_cast<int64_t>(random() % kPageRows);
      for (size_t column = 0; column < 2; ++column) {
        const auto comparison = static_cast<Comparison>(random() % 3 == 0 ? random() % 6 : 0);
        int64_t expected = 0;
        for (int64_t row = 0; row < kFileRows; ++row) {
          std::optional<int64_t> value = value_of(column, row);
          expected += value && passes(comparison, *value, constant);
        }
        try {
          ScanHarness::Outcome outcome = harness.scan({path}, {.filters = {{kColumns[column], comparison, fmt::format("{}", constant)}}});
          EXPECT_EQ(outcome.rows, expected) << kColumns[column] << ", comparison " << static_cast<int>(comparison) << " with " << constant;
          ++compared;
        } catch (const DataError&) {
          ++refused;
        }
      }
    }
  }
  // Damage that is never detected, or always, would test little.
  EXPECT_GT(compared, static_cast<int>(mutations) * 8);
  EXPECT_GT(refused, 0);
  EXPECT_GT(false_claims, 0);
}

INSTANTIATE_TEST_SUITE_P(PageVersions, PruningMutation, testing::Bool(),
                         [](const auto& instance) { return instance.param ? "v2" : "v1"; });

}  // namespace
}  // namespace pistachio::test
