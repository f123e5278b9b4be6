#include "exec/adaptive/bucket_spread.h"

#include <algorithm>

#include "base/byte_stream.h"
#include "base/error.h"
#include "columns/column_hash.h"
#include "kernels/ops/hash64.h"

namespace pistachio {

namespace {

// A bucket is spread if it has more than this fraction of a rank's even share of the rows. Smaller buckets even out among the ranks.
constexpr double kFrequentShare = 0.2;
// With fewer rows in total, skew does not matter.
constexpr int64_t kMinRowsToSpread = 64;

}  // namespace

at::Tensor routing_hashes(const std::vector<Column>& keys) {
  return kernels::hash64(hash_rows(keys));
}

at::Tensor buckets_of(const at::Tensor& hashes) {
  return hashes.bitwise_right_shift(64 - kBucketBits).bitwise_and_(kBuckets - 1);
}

int owner_of(int64_t bucket, int ranks) {
  return static_cast<int>(bucket * ranks / kBuckets);
}

std::string BucketSpread::note_of(const std::vector<int64_t>& loads) {
  ByteWriter writer;
  for (int64_t load : loads) writer.put(load);
  return writer.take();
}

std::vector<bool> BucketSpread::choose(const std::vector<std::string>& notes, int ranks) {
  std::vector<int64_t> loads(kBuckets);
  int64_t total = 0;
  for (const std::string& note : notes) {
    if (note.empty()) continue;
    ByteReader reader(note);
    for (int64_t& load : loads) {
      auto added = reader.get<int64_t>();
      load += added;
      total += added;
    }
  }
  std::vector<bool> of_all(kBuckets);
  if (total < kMinRowsToSpread) return of_all;
  double share = static_cast<double>(total) / ranks;
  for (size_t i = 0; i < loads.size(); ++i) of_all[i] = static_cast<double>(loads[i]) > kFrequentShare * share;
  return of_all;
}

void BucketSpread::decide(std::vector<bool> of_all) {
  of_all_ = std::move(of_all);
  is_needed_ = std::find(of_all_.begin(), of_all_.end(), true) != of_all_.end();
  decided_.close();
}

Task<void> BucketSpread::wait() {
  Task<std::optional<int>> waiting = decided_.receive();
  co_await waiting;
}

}  // namespace pistachio
