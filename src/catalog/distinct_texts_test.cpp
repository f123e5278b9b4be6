#include "catalog/distinct_texts.h"

#include <gtest/gtest.h>

namespace pistachio {

namespace {

struct ChunkFigures {
  int64_t values = 0;
  int64_t uncompressed_bytes = 0;
  int64_t dictionary_bytes = 0;
  std::string least;
  std::string greatest;
};

ColumnChunkInfo chunk_of(const ChunkFigures& figures) {
  ColumnChunkInfo chunk;
  chunk.values = figures.values;
  chunk.uncompressed_bytes = figures.uncompressed_bytes;
  chunk.dictionary_bytes = figures.dictionary_bytes;
  chunk.minimum = ScalarValue::of_text(TypeKind::Varchar, figures.least);
  chunk.maximum = ScalarValue::of_text(TypeKind::Varchar, figures.greatest);
  return chunk;
}

ParquetTable table_of(const std::vector<ColumnChunkInfo>& chunks) {
  auto footer = std::make_shared<ParquetFooter>();
  for (const ColumnChunkInfo& chunk : chunks) {
    RowGroupInfo group;
    group.rows = chunk.values;
    group.columns.push_back(chunk);
    footer->row_groups.push_back(group);
  }
  auto metadata = std::make_shared<FileMetadata>();
  metadata->footer = footer;
  TableFile file;
  file.metadata = metadata;
  file.leaf_of_column = {0};
  ParquetTable table;
  table.files.push_back(file);
  return table;
}

double estimate(const ChunkFigures& figures, size_t chunks = 1) {
  return estimate_distinct_texts(table_of(std::vector<ColumnChunkInfo>(chunks, chunk_of(figures))), 0).value();
}

void expect_near(double expected, double actual) {
  EXPECT_GE(actual, expected / 3);
  EXPECT_LE(actual, expected * 3);
}

}  // namespace

// Figures from real files: TPC-H columns with dictionaries.
TEST(DistinctTexts, EstimatedFromChunkSizes) {
  expect_near(7, estimate({113'743, 43'086, 69, "AIR", "TRUCK"}, 53));
  expect_near(2, estimate({113'743, 17'929, 26, "F", "O"}, 53));
  expect_near(150, estimate({100'000, 104'027, 1'203, "ECONOMY ANODIZED BRASS", "STANDARD POLISHED TIN"}, 2));
  expect_near(150, estimate({2'000, 5'732, 1'203, "ECONOMY ANODIZED BRASS", "STANDARD POLISHED TIN"}));
  expect_near(5, estimate({37'500, 14'264, 82, "AUTOMOBILE", "MACHINERY"}, 4));
  expect_near(5, estimate({93'750, 35'532, 80, "1-URGENT", "5-LOW"}, 16));
  expect_near(1'000, estimate({93'750, 136'516, 4'962, "Clerk#000000001", "Clerk#000001000"}, 16));
  expect_near(25, estimate({25, 332, 264, "ALGERIA", "VIETNAM"}));
  expect_near(5, estimate({5, 90, 66, "AFRICA", "MIDDLE EAST"}));
}

TEST(DistinctTexts, UniqueValuesCountAsRows) {
  expect_near(150'000, estimate({37'500, 785'139, 444'843, "10-100-588-9355", "34-999-379-6016"}, 4));
}

TEST(DistinctTexts, LongRunsUseDictionarySize) {
  expect_near(1'000, estimate({1'000'000, 27'000, 9'000, "Clerk#000000001", "Clerk#000001000"}));
}

TEST(DistinctTexts, NeedADictionaryAndStatistics) {
  ColumnChunkInfo chunk = chunk_of({100, 1'000, 0, "a", "b"});
  EXPECT_FALSE(estimate_distinct_texts(table_of({chunk}), 0).has_value());
  chunk = chunk_of({100, 1'000, 50, "a", "b"});
  EXPECT_TRUE(estimate_distinct_texts(table_of({chunk}), 0).has_value());
  chunk.minimum = std::nullopt;
  EXPECT_FALSE(estimate_distinct_texts(table_of({chunk}), 0).has_value());
  EXPECT_FALSE(estimate_distinct_texts(table_of({}), 0).has_value());
}

}  // namespace pistachio
