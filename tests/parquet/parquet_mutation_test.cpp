// Damaged files: thousands of seeded mutations of files of every encoding and codec. Each must be read, or rejected with DataError,
// UserError or OutOfMemory; never a crash, another exception, a hang or a large allocation (AddressSanitizer runs limit single
// allocations). Without checksums a changed value is legal data, so values are not compared; with checksums they are.
// PISTACHIO_MUTATIONS=N runs N mutations per file, starting at seed PISTACHIO_FIRST_MUTATION. A failure names file and seed: run that pair
// alone with PISTACHIO_MUTATION_SEED=S.
#include <arrow/api.h>
#include <arrow/util/compression.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "base/error.h"
#include "tests/parquet/arrow_compare.h"
#include "tests/parquet/file_mutator.h"
#include "tests/parquet/in_memory_file.h"
#include "tests/parquet/parquet_file_factory.h"

namespace pistachio::test {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr uint64_t kDefaultMutations = 150;
#else
constexpr uint64_t kDefaultMutations = 600;
#endif
constexpr std::chrono::seconds kLongest(5);

uint64_t number_from_environment(const char* name, uint64_t fallback) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : fallback;
}

struct BaseFile {
  std::string name;
  FileSpec spec;
};

// Every codec and page version; the columns of all stored types and encodings are spread over them, with different NULL patterns.
std::vector<BaseFile> base_files() {
  std::vector<BaseFile> files;
  auto codecs = writable_codecs();
  int count = static_cast<int>(codecs.size()) * 4;
  for (int i = 0; i < count; ++i) {
    FileSpec spec;
    spec.columns = all_columns(count + 1, i);  // one more than files: the NULL patterns shift from file to file
    // Long values would slow down each mutant and absorb most of the damage.
    std::erase_if(spec.columns, [](const ColumnSpec& column) { return column.stored.name == "long_text"; });
    for (ColumnSpec& column : spec.columns) column.distinct = 30;
    spec.rows = 260;
    spec.row_group_rows = i % 3 ? 260 : 100;
    spec.page_bytes = i % 2 ? 150 : 1 << 20;
    spec.dictionary_bytes = i % 5 ? 1 << 20 : 100;
    spec.codec = codecs[static_cast<size_t>(i) / 4];
    spec.pages_v2 = i % 4 >= 2;
    spec.format_v1 = i % 7 == 0;
    spec.page_index = i % 2 == 0;
    spec.seed = static_cast<uint64_t>(i) + 1;
    files.push_back({fmt::format("{}_{}_{}", arrow::util::Codec::GetCodecAsString(spec.codec), spec.pages_v2 ? "v2" : "v1", i), spec});
  }
  return files;
}

struct Outcomes {
  int read = 0;
  int refused = 0;
};

// Reads every column of every row group separately, so that a damaged column does not hide the others.
void read_everything(const std::vector<uint8_t>& bytes, uint64_t seed, Outcomes& outcomes) {
  auto guarded = [&](auto&& body) {
    try {
      body();
      ++outcomes.read;
      return true;
    } catch (const DataError&) {
    } catch (const UserError&) {
    } catch (const OutOfMemory&) {
    }
    ++outcomes.refused;
    return false;
  };
  std::optional<InMemoryFile> file;
  if (!guarded([&] { file.emplace(std::span<const uint8_t>(bytes)); })) return;
  InMemoryFile::Options options;
  options.strip_rows = 97;
  options.use_offset_index = seed % 2 == 0;
  options.mask_seed = seed % 3 == 0 ? seed : 0;
  for (size_t group = 0; group < file->footer().row_groups.size(); ++group) {
    for (size_t column = 0; column < file->footer().columns.size(); ++column) {
      guarded([&] { file->read(static_cast<int>(column), static_cast<int>(group), options); });
    }
  }
}

class ParquetMutation : public testing::TestWithParam<BaseFile> {};

TEST_P(ParquetMutation, IsReadOrRefused) {
  auto file = make_parquet_file(GetParam().spec);
  FileMutator mutator(file);
  uint64_t only = number_from_environment("PISTACHIO_MUTATION_SEED", 0);
  uint64_t mutations = number_from_environment("PISTACHIO_MUTATIONS", kDefaultMutations);
  uint64_t first = only ? only : number_from_environment("PISTACHIO_FIRST_MUTATION", 1);
  Outcomes outcomes;
  for (uint64_t seed = first; seed < first + (only ? 1 : mutations); ++seed) {
    FileMutator::Mutant mutant = mutator.mutate(seed);
    auto began = std::chrono::steady_clock::now();
    try {
      read_everything(mutant.bytes, seed, outcomes);
    } catch (const std::exception& problem) {
      ADD_FAILURE() << "seed " << seed << ", " << mutant.what << ": " << typeid(problem).name() << ": " << problem.what();
    }
    auto took = std::chrono::steady_clock::now() - began;
    EXPECT_LT(took, kLongest) << "seed " << seed << ", " << mutant.what;
  }
  // If all mutations were harmless, or all fatal to the footer, they would test little.
  if (!only) {
    EXPECT_GT(outcomes.read, 0);
    EXPECT_GT(outcomes.refused, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Files, ParquetMutation, testing::ValuesIn(base_files()), [](const auto& instance) { return instance.param.name; });

// With checksums, a damaged page yields the values of the good file or an error, never other values.
TEST(ParquetChecksums, DamagedPagesNeverYieldWrongValues) {
  FileSpec spec;
  for (const char* type : {"int64", "string", "double"}) {
    spec.columns.push_back({type, stored_type(type), parquet::Encoding::PLAIN, NullPattern::Some, 100});
    spec.columns.push_back(
        {std::string(type) + "_dictionary", stored_type(type), parquet::Encoding::RLE_DICTIONARY, NullPattern::Some, 100});
  }
  spec.rows = 500;
  spec.page_bytes = 300;
  spec.checksums = true;
  for (bool pages_v2 : {false, true}) {
    spec.pages_v2 = pages_v2;
    auto good = make_parquet_file(spec);
    auto table = read_with_arrow(good);
    InMemoryFile good_file(*good);
    std::vector<uint8_t> bytes(good->data(), good->data() + good->size());
    int refused = 0;
    for (size_t column = 0; column < spec.columns.size(); ++column) {
      ExpectedColumn expected(*table->column(static_cast<int>(column)), spec.columns[column].stored.expected);
      ByteRange pages = good_file.footer().row_groups[0].columns[column].pages;
      for (int64_t offset = pages.offset; offset < pages.end(); offset += 3) {
        bytes[static_cast<size_t>(offset)] ^= 0x10;
        try {
          InMemoryFile file{std::span<const uint8_t>(bytes)};
          for (const ReadStrip& strip : file.read(static_cast<int>(column), 0, {})) {
            EXPECT_EQ(expected.first_difference(strip.column, strip.rows), std::nullopt)
                << spec.columns[column].name << ", byte " << offset;
          }
        } catch (const DataError& problem) {
          ++refused;
          EXPECT_EQ(problem.location().column, spec.columns[column].name);
          EXPECT_EQ(problem.location().row_group, 0);
        }
        bytes[static_cast<size_t>(offset)] ^= 0x10;
      }
    }
    EXPECT_GT(refused, 1000);
  }
}

TEST(ParquetTruncation, EveryLengthIsRefused) {
  FileSpec spec;
  spec.columns = {{"v", stored_type("string"), parquet::Encoding::PLAIN, NullPattern::Some, 20}};
  spec.rows = 60;
  auto good = make_parquet_file(spec);
  for (int64_t length = 0; length < good->size(); ++length) {
    EXPECT_THROW(InMemoryFile(std::span(good->data(), static_cast<size_t>(length))), DataError) << length;
  }
}

}  // namespace
}  // namespace pistachio::test
