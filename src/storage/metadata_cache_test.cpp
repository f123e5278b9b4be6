#include "storage/metadata_cache.h"

#include <gtest/gtest.h>

namespace pistachio {
namespace {

std::shared_ptr<const FileMetadata> metadata_of(int64_t bytes) {
  auto footer = std::make_shared<ParquetFooter>();
  footer->memory_bytes = bytes;
  auto metadata = std::make_shared<FileMetadata>();
  metadata->footer = footer;
  return metadata;
}

TEST(MetadataCacheTest, FindsOnlyTheSameIdentity) {
  MetadataCache cache(1000);
  cache.insert("a", {10, "monday"}, metadata_of(100));
  EXPECT_NE(cache.find("a", {10, "monday"}), nullptr);
  EXPECT_EQ(cache.find("a", {11, "monday"}), nullptr);
  EXPECT_EQ(cache.find("a", {10, "tuesday"}), nullptr);
  EXPECT_EQ(cache.find("b", {10, "monday"}), nullptr);
  EXPECT_EQ(cache.statistics().hits, 1);
  EXPECT_EQ(cache.statistics().misses, 3);
}

TEST(MetadataCacheTest, LeastRecentlyUsedIsEvictedFirst) {
  MetadataCache cache(300);
  for (const char* path : {"a", "b", "c"}) cache.insert(path, {}, metadata_of(100));
  cache.find("a", {});
  cache.insert("d", {}, metadata_of(100));
  EXPECT_EQ(cache.find("b", {}), nullptr);
  EXPECT_NE(cache.find("a", {}), nullptr);
  EXPECT_EQ(cache.statistics().bytes, 300);
}

TEST(MetadataCacheTest, EntriesAreReplacedAndLargeOnesNotKept) {
  MetadataCache cache(300);
  cache.insert("a", {1, ""}, metadata_of(100));
  cache.insert("a", {2, ""}, metadata_of(150));
  EXPECT_EQ(cache.statistics().bytes, 150);
  EXPECT_EQ(cache.statistics().entries, 1);
  cache.insert("b", {}, metadata_of(301));
  EXPECT_EQ(cache.find("b", {}), nullptr);
  EXPECT_NE(cache.find("a", {2, ""}), nullptr);
}

TEST(MetadataCacheTest, GrownEntriesAreRecounted) {
  MetadataCache cache(300);
  auto footer = std::make_shared<ParquetFooter>();
  footer->memory_bytes = 100;
  auto metadata = std::make_shared<FileMetadata>();
  metadata->footer = footer;
  cache.insert("a", {}, metadata);
  cache.insert("b", {}, metadata_of(100));
  footer->memory_bytes = 150;
  cache.recount("a");
  cache.recount("nobody");
  EXPECT_EQ(cache.statistics().bytes, 250);
  footer->memory_bytes = 250;
  cache.recount("a");
  EXPECT_LE(cache.statistics().bytes, 300);
  EXPECT_EQ(cache.statistics().entries, 1);
  footer->memory_bytes = 301;
  cache.recount("b");
  cache.recount("a");
  EXPECT_EQ(cache.statistics().bytes, cache.statistics().entries * 100);
}

TEST(MetadataCacheTest, PressureReleasesEntriesThatScansKeepAlive) {
  MetadataCache cache(300);
  cache.insert("a", {}, metadata_of(100));
  std::shared_ptr<const FileMetadata> used = cache.find("a", {});
  cache.release(50);
  EXPECT_EQ(cache.statistics().entries, 0);
  EXPECT_EQ(used->footer->memory_bytes, 100);
}

}  // namespace
}  // namespace pistachio
