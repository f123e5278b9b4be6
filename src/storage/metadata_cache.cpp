#include "storage/metadata_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "storage/file_kind.h"

namespace pistachio {

namespace {

// Large enough to hold the footer of most files.
constexpr int64_t kTailBytes = 64 << 10;

bool ends_like_parquet(std::span<const uint8_t> tail) {
  return tail.size() >= 4 &&
         (std::memcmp(tail.data() + tail.size() - 4, "PAR1", 4) == 0 || std::memcmp(tail.data() + tail.size() - 4, "PARE", 4) == 0);
}

// Says what the file is instead, if that is known; a Parquet file may be cut short.
void refuse_other_kind(const std::string& path, std::span<const uint8_t> head) {
  const std::string_view kind = kind_of_bytes(head);
  if (kind.empty() || kind == "a Parquet file") return;
  std::string hint;
  if (kind == "CSV text" || kind == "text") hint = "; read_csv reads it";
  if (kind == "JSON text") hint = "; read_json reads it";
  throw DataError(fmt::format("it is {}, not a Parquet file{}", kind, hint), {path});
}

}  // namespace

std::shared_ptr<const FileMetadata> MetadataCache::find(const std::string& path, const FileIdentity& identity) {
  std::lock_guard lock(mutex_);
  auto found = by_path_.find(path);
  if (found == by_path_.end() || found->second->identity != identity) {
    ++statistics_.misses;
    return nullptr;
  }
  ++statistics_.hits;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->metadata;
}

void MetadataCache::insert(const std::string& path, const FileIdentity& identity, std::shared_ptr<const FileMetadata> metadata) {
  std::lock_guard lock(mutex_);
  if (auto found = by_path_.find(path); found != by_path_.end()) {
    statistics_.bytes -= found->second->bytes;
    entries_.erase(found->second);
    by_path_.erase(found);
  }
  int64_t bytes = metadata->memory_bytes();
  if (bytes > limit_bytes_) return;
  statistics_.bytes += bytes;
  entries_.push_front({path, identity, std::move(metadata), bytes});
  by_path_[path] = entries_.begin();
  while (statistics_.bytes > limit_bytes_) drop_last();
}

void MetadataCache::recount(const std::string& path) {
  std::lock_guard lock(mutex_);
  auto found = by_path_.find(path);
  if (found == by_path_.end()) return;
  Entry& entry = *found->second;
  int64_t bytes = entry.metadata->memory_bytes();
  statistics_.bytes += bytes - entry.bytes;
  entry.bytes = bytes;
  while (statistics_.bytes > limit_bytes_) drop_last();
}

void MetadataCache::drop_last() {
  statistics_.bytes -= entries_.back().bytes;
  by_path_.erase(entries_.back().path);
  entries_.pop_back();
}

void MetadataCache::release(int64_t bytes) {
  std::lock_guard lock(mutex_);
  int64_t target = std::max<int64_t>(0, statistics_.bytes - bytes);
  while (!entries_.empty() && statistics_.bytes > target) drop_last();
}

MetadataCache::Statistics MetadataCache::statistics() const {
  std::lock_guard lock(mutex_);
  Statistics now = statistics_;
  now.entries = static_cast<int64_t>(entries_.size());
  return now;
}

Task<std::shared_ptr<const FileMetadata>> load_file_metadata(ReadPool& pool, std::shared_ptr<DataFile> file) {
  int64_t tail_bytes = std::min(file->size(), kTailBytes);
  ByteRange tail_range{file->size() - tail_bytes, tail_bytes};
  Task<at::Tensor> reading = pool.read_range(file, tail_range);
  at::Tensor tail = co_await reading;
  std::span<const uint8_t> bytes(tail.const_data_ptr<uint8_t>(), static_cast<size_t>(tail_bytes));
  if (!ends_like_parquet(bytes)) {
    const ByteRange head_range{0, std::min<int64_t>(file->size(), 256)};
    Task<at::Tensor> reading_head = pool.read_range(file, head_range);
    const at::Tensor head = co_await reading_head;
    refuse_other_kind(file->path(), {head.const_data_ptr<uint8_t>(), static_cast<size_t>(head.numel())});
  }
  ByteRange footer_range = locate_footer(file->path(), file->size(), bytes);
  at::Tensor longer;
  if (footer_range.offset < tail_range.offset) {
    Task<at::Tensor> reading_footer = pool.read_range(file, footer_range);
    longer = co_await reading_footer;
    bytes = {longer.const_data_ptr<uint8_t>(), static_cast<size_t>(footer_range.length)};
  } else {
    bytes = bytes.subspan(static_cast<size_t>(footer_range.offset - tail_range.offset), static_cast<size_t>(footer_range.length));
  }
  auto metadata = std::make_shared<FileMetadata>();
  metadata->footer = parse_footer(file->path(), file->size(), bytes);
  metadata->page_indexes = std::make_shared<PageIndexes>(metadata->footer);
  co_return metadata;
}

}  // namespace pistachio
