#include "storage/read_pool.h"

#include <algorithm>

#include "base/run_blocking.h"
#include "base/task_group.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

// Reading across a gap pays off if it takes less time than another request: a seek or a round trip.
constexpr int64_t kLocalGap = 64 << 10;
constexpr int64_t kRemoteGap = 1 << 20;
constexpr int64_t kLocalRead = 16 << 20;
constexpr int64_t kRemoteRead = 8 << 20;

}  // namespace

std::vector<ByteRange> coalesce_ranges(std::vector<ByteRange> ranges, int64_t largest_gap, int64_t largest_read) {
  std::sort(ranges.begin(), ranges.end(), [](const ByteRange& left, const ByteRange& right) { return left.offset < right.offset; });
  std::vector<ByteRange> joined;
  for (const ByteRange& range : ranges) {
    if (range.length == 0) continue;
    if (!joined.empty()) {
      ByteRange& last = joined.back();
      int64_t end = std::max(last.end(), range.end());
      bool overlaps = range.offset < last.end();
      if (overlaps || (range.offset - last.end() <= largest_gap && end - last.offset <= largest_read)) {
        last.length = end - last.offset;
        continue;
      }
    }
    joined.push_back(range);
  }
  return joined;
}

Task<void> ReadPool::fill(DataFile& file, FileBytes& target, int64_t need) {
  std::span<uint8_t> bytes(target.bytes.mutable_data_ptr<uint8_t>(), static_cast<size_t>(target.bytes.numel()));
  int64_t length = static_cast<int64_t>(bytes.size());
  auto asked = std::chrono::steady_clock::now();
  int64_t cached = file.read_cached(target.offset, bytes);
  if (cached < length) {
    auto rest = [&] { file.read_blocking(target.offset + cached, bytes.subspan(static_cast<size_t>(cached))); };
    co_await run_blocking(rest, need);
  }
  Task<void> passing = device_.pass(length, need, asked);
  co_await passing;
  bytes_ += length;
  cached_bytes_ += cached;
  reads_ += 1;
}

Task<std::vector<FileBytes>> ReadPool::read(std::shared_ptr<DataFile> file, std::vector<ByteRange> ranges, int64_t need,
                                            StagingArea* staging) {
  bool remote = file->is_remote();
  std::vector<ByteRange> joined = coalesce_ranges(std::move(ranges), remote ? kRemoteGap : kLocalGap, remote ? kRemoteRead : kLocalRead);
  std::vector<FileBytes> buffers;
  buffers.reserve(joined.size());
  if (staging == nullptr) {
    for (const ByteRange& range : joined) buffers.push_back({range.offset, at::empty({range.length}, at::kByte)});
  } else {
    // Side by side, for one copy to the device.
    int64_t total = 0;
    for (const ByteRange& range : joined) total += range.length;
    const at::Tensor memory = staging->allocate(total);
    int64_t used = 0;
    for (const ByteRange& range : joined) {
      buffers.push_back({range.offset, memory.narrow(0, used, range.length)});
      used += range.length;
    }
  }
  if (buffers.size() == 1) {
    Task<void> only = fill(*file, buffers[0], need);
    co_await only;
  } else if (!buffers.empty()) {
    std::vector<Task<void>> reads;
    for (FileBytes& buffer : buffers) reads.push_back(fill(*file, buffer, need));
    Task<void> all = when_all(std::move(reads));
    co_await all;
  }
  co_return buffers;
}

Task<at::Tensor> ReadPool::read_range(std::shared_ptr<DataFile> file, ByteRange range) {
  FileBytes buffer{range.offset, at::empty({range.length}, at::kByte)};
  Task<void> reading = fill(*file, buffer, kMetadataNeed);
  co_await reading;
  co_return buffer.bytes;
}

void ReadPool::count_mapped(int64_t bytes) {
  bytes_ += bytes;
  cached_bytes_ += bytes;
  mapped_bytes_ += bytes;
}

ReadPool::Statistics ReadPool::statistics() const {
  return {bytes_, reads_, cached_bytes_, mapped_bytes_};
}

}  // namespace pistachio
