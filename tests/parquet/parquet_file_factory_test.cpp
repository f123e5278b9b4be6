// The factory itself: its files are readable, have the requested encodings and NULLs, and are deterministic.
#include "tests/parquet/parquet_file_factory.h"

#include <arrow/api.h>
#include <arrow/io/memory.h>
#include <gtest/gtest.h>
#include <parquet/file_reader.h>

#include <algorithm>
#include <set>

#include "tests/parquet/arrow_compare.h"

namespace pistachio::test {
namespace {

FileSpec small_file(int64_t rows) {
  FileSpec spec;
  spec.columns = all_columns();
  spec.rows = rows;
  return spec;
}

TEST(ParquetFileFactory, NamesAreUnique) {
  std::set<std::string> names;
  for (const ColumnSpec& column : all_columns()) EXPECT_TRUE(names.insert(column.name).second) << column.name;
  EXPECT_GT(names.size(), 900u);
}

TEST(ParquetFileFactory, ThinnedColumnsTogetherAreAll) {
  size_t total = 0;
  for (int first = 0; first < 7; ++first) total += all_columns(7, first).size();
  EXPECT_EQ(total, all_columns().size());
}

TEST(ParquetFileFactory, SameSpecGivesSameBytes) {
  FileSpec spec = small_file(100);
  auto first = make_parquet_file(spec);
  EXPECT_TRUE(first->Equals(*make_parquet_file(spec)));
  spec.seed = 2;
  EXPECT_FALSE(first->Equals(*make_parquet_file(spec)));
}

TEST(ParquetFileFactory, EveryCodecAndPageVersionIsReadable) {
  ASSERT_EQ(writable_codecs().size(), 7u);
  for (auto codec : writable_codecs()) {
    for (bool pages_v2 : {false, true}) {
      FileSpec spec = small_file(150);
      spec.codec = codec;
      spec.pages_v2 = pages_v2;
      spec.row_group_rows = 100;
      spec.page_bytes = 256;
      spec.page_index = spec.checksums = spec.bloom_filters = pages_v2;
      SCOPED_TRACE(spec.to_string());
      auto table = read_with_arrow(make_parquet_file(spec));
      EXPECT_EQ(table->num_rows(), spec.rows);
      EXPECT_EQ(table->num_columns(), static_cast<int>(spec.columns.size()));
      for (const ColumnSpec& column : spec.columns) {
        SCOPED_TRACE(column.name);
        ExpectedColumn expected(*table->GetColumnByName(column.name), column.stored.expected);
        EXPECT_EQ(expected.rows(), spec.rows);
      }
    }
  }
}

TEST(ParquetFileFactory, FooterSaysWhatWasAskedFor) {
  FileSpec spec = small_file(500);
  auto reader = parquet::ParquetFileReader::Open(std::make_shared<arrow::io::BufferReader>(make_parquet_file(spec)));
  auto group = reader->metadata()->RowGroup(0);
  for (size_t i = 0; i < spec.columns.size(); ++i) {
    const ColumnSpec& column = spec.columns[i];
    SCOPED_TRACE(column.name);
    auto encodings = group->ColumnChunk(static_cast<int>(i))->encodings();
    EXPECT_NE(std::find(encodings.begin(), encodings.end(), column.encoding), encodings.end());
  }
}

TEST(ParquetFileFactory, SmallDictionaryLimitFallsBack) {
  FileSpec spec;
  spec.columns = {{"v", stored_type("int64"), parquet::Encoding::RLE_DICTIONARY, NullPattern::Some, 500}};
  spec.rows = 5000;
  spec.page_bytes = 512;
  spec.dictionary_bytes = 1000;
  auto reader = parquet::ParquetFileReader::Open(std::make_shared<arrow::io::BufferReader>(make_parquet_file(spec)));
  std::set<parquet::Encoding::type> seen;
  auto chunk = reader->metadata()->RowGroup(0)->ColumnChunk(0);
  for (const auto& stats : chunk->encoding_stats()) {
    if (stats.page_type != parquet::PageType::DICTIONARY_PAGE) seen.insert(stats.encoding);
  }
  EXPECT_EQ(seen, (std::set<parquet::Encoding::type>{parquet::Encoding::PLAIN, parquet::Encoding::RLE_DICTIONARY}));
}

TEST(ParquetFileFactory, NullPatternsHold) {
  FileSpec spec;
  for (NullPattern nulls : null_patterns()) {
    spec.columns.push_back({std::to_string(static_cast<int>(nulls)), stored_type("string"), parquet::Encoding::PLAIN, nulls});
  }
  spec.rows = 2000;
  auto table = read_with_arrow(make_parquet_file(spec));
  auto nulls_of = [&](NullPattern pattern) { return table->GetColumnByName(std::to_string(static_cast<int>(pattern)))->null_count(); };
  EXPECT_EQ(nulls_of(NullPattern::Required), 0);
  EXPECT_EQ(nulls_of(NullPattern::None), 0);
  EXPECT_NEAR(static_cast<double>(nulls_of(NullPattern::Some)), 200, 60);
  EXPECT_NEAR(static_cast<double>(nulls_of(NullPattern::Many)), 1800, 60);
  EXPECT_EQ(nulls_of(NullPattern::All), 2000);
  EXPECT_GT(nulls_of(NullPattern::Runs), 100);
}

TEST(ParquetFileFactory, NestedFileHasFlatLeaves) {
  auto table = read_with_arrow(make_nested_parquet_file(100, 30));
  EXPECT_EQ(table->num_rows(), 100);
  ExpectedColumn x(*flat_leaf(*table, "point.x"), TypeKind::Integer);
  EXPECT_TRUE(x.is_null(0));
  EXPECT_EQ(static_cast<int64_t>(x.number(1)), 3);
  ExpectedColumn z(*flat_leaf(*table, "point.inner.z"), TypeKind::Double);
  EXPECT_TRUE(z.is_null(0));
  EXPECT_TRUE(z.is_null(3));
  EXPECT_TRUE(z.is_null(11));
  EXPECT_EQ(z.floating(2), 0.25);
}

TEST(ParquetFileFactory, TemporaryFolderRemovesItself) {
  std::string path;
  {
    TemporaryFolder folder;
    path = folder.file("x");
    write_file(path, *arrow::Buffer::FromString("text"));
    EXPECT_EQ(access(path.c_str(), R_OK), 0);
  }
  EXPECT_NE(access(path.c_str(), R_OK), 0);
}

}  // namespace
}  // namespace pistachio::test
