// LRU cache of parsed footers and page indexes, keyed by path and identity (size, times and inode, or etag), so that changed files are
// parsed again. Bounded by bytes. Thread-safe; entries are shared and stay alive while a scan uses them.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "base/task.h"
#include "storage/data_file.h"
#include "storage/page_index.h"
#include "storage/parquet_footer.h"
#include "storage/read_pool.h"

namespace pistachio {

// A footer and the page indexes loaded so far.
struct FileMetadata {
  std::shared_ptr<const ParquetFooter> footer;
  std::shared_ptr<PageIndexes> page_indexes;

  // Grows while page indexes are loaded.
  int64_t memory_bytes() const { return footer->memory_bytes + (page_indexes == nullptr ? 0 : page_indexes->memory_bytes()); }
};

class MetadataCache {
 public:
  explicit MetadataCache(int64_t limit_bytes) : limit_bytes_(limit_bytes) {}

  struct Statistics {
    int64_t hits = 0;
    int64_t misses = 0;
    int64_t bytes = 0;
    int64_t entries = 0;
  };

  // Nullptr if absent or of another identity.
  std::shared_ptr<const FileMetadata> find(const std::string& path, const FileIdentity& identity);
  void insert(const std::string& path, const FileIdentity& identity, std::shared_ptr<const FileMetadata> metadata);
  // Updates the entry's size after page indexes were loaded.
  void recount(const std::string& path);
  // Evicts entries until at least `bytes` are freed or none are left (memory pressure).
  void release(int64_t bytes);
  Statistics statistics() const;

 private:
  struct Entry {
    std::string path;
    FileIdentity identity;
    std::shared_ptr<const FileMetadata> metadata;
    int64_t bytes;  // as counted in the statistics
  };

  void drop_last();

  const int64_t limit_bytes_;
  mutable std::mutex mutex_;
  // Guarded by mutex_. Most recently used first.
  std::list<Entry> entries_;
  std::unordered_map<std::string, std::list<Entry>::iterator> by_path_;
  Statistics statistics_;
};

// Reads and parses a file's footer, bypassing the cache.
Task<std::shared_ptr<const FileMetadata>> load_file_metadata(ReadPool& pool, std::shared_ptr<DataFile> file);

}  // namespace pistachio
