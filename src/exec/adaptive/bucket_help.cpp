#include "exec/adaptive/bucket_help.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/byte_stream.h"
#include "base/error.h"
#include "columns/chunk_packing.h"
#include "columns/device_copy.h"
#include "kernels/ops/tensor_functions.h"
#include "network/control_exchange.h"

namespace pistachio {

namespace {

// A rank is overloaded if it has more than this multiple of its even share of the rows.
constexpr double kTooMuch = 1.25;
// A bucket is worth taking over if it has more than this fraction of a rank's even share.
constexpr double kHeavyShare = 0.2;
// With fewer rows in total, skew does not matter.
constexpr int64_t kMinRowsToHelp = 64;
// Build rows that a rank broadcasts in a round, in bytes summed over the receivers: sending more costs more than it saves.
constexpr int64_t kMaxBroadcastBytes = 32 << 20;

at::Tensor block_of(std::string_view bytes) {
  at::Tensor block = at::empty({static_cast<int64_t>(bytes.size())}, at::kByte);
  std::memcpy(block.mutable_data_ptr(), bytes.data(), bytes.size());
  return block;
}

}  // namespace

BucketHelp::BucketHelp(int rank, int ranks, int64_t first_rows)
    : rank_(rank),
      ranks_(ranks),
      first_rows_(first_rows),
      is_counting_(first_rows > 0),
      loads_(kBuckets),
      owners_(at::empty({kBuckets}, at::kLong)),
      settled_(kBuckets) {
  for (int64_t bucket = 0; bucket < kBuckets; ++bucket) owners_.mutable_data_ptr<int64_t>()[bucket] = owner_of(bucket, ranks_);
  for (int round = 0; round < kRounds; ++round) reached_.push_back(std::make_unique<Channel<int>>(0));
}

void BucketHelp::begin(const Buckets& of_all) {
  std::lock_guard lock(mutex_);
  settled_ = of_all;
  at::Tensor owners = owners_.clone();
  for (int64_t bucket = 0; bucket < kBuckets; ++bucket) {
    if (of_all[static_cast<size_t>(bucket)]) owners.mutable_data_ptr<int64_t>()[bucket] = rank_;
  }
  owners_ = owners;
}

at::Tensor BucketHelp::owners() {
  std::lock_guard lock(mutex_);
  return owners_;
}

void BucketHelp::count(const at::Tensor& buckets) {
  if (!is_counting_) return;
  at::Tensor counts = copied_to(at::bincount(buckets, {}, kBuckets), at::kCPU);
  const int64_t* count = counts.const_data_ptr<int64_t>();
  std::lock_guard lock(mutex_);
  for (size_t bucket = 0; bucket < loads_.size(); ++bucket) loads_[bucket] += count[bucket];
  rows_ += buckets.numel();
  while (rounds_reached_ < kRounds && rows_ >= first_rows_ << (2 * rounds_reached_)) reached_[static_cast<size_t>(rounds_reached_++)]->close();
}

void BucketHelp::end_of_rows() {
  std::lock_guard lock(mutex_);
  has_ended_ = true;
  while (rounds_reached_ < kRounds) reached_[static_cast<size_t>(rounds_reached_++)]->close();
}

void BucketHelp::join_begins(Join& join) {
  std::lock_guard lock(join_mutex_);
  join_ = &join;
  join_known_.close();
}

void BucketHelp::join_ends() {
  std::lock_guard lock(join_mutex_);
  join_ = nullptr;
  join_known_.close();
}

Task<void> BucketHelp::wait_for_rows(int round) {
  Task<std::optional<int>> waiting = reached_[static_cast<size_t>(round)]->receive();
  co_await waiting;
}

std::string BucketHelp::note_of(const std::vector<int64_t>& loads, bool is_last) {
  ByteWriter writer;
  writer.put<bool>(is_last);
  for (int64_t load : loads) writer.put(load);
  return writer.take();
}

bool BucketHelp::is_last(const std::string& note) {
  return ByteReader(note).get<bool>();
}

std::string BucketHelp::take_note() {
  std::lock_guard lock(mutex_);
  return note_of(std::exchange(loads_, std::vector<int64_t>(kBuckets)), has_ended_);
}

BucketHelp::Buckets BucketHelp::choose(const std::vector<std::string>& notes, const Buckets& settled, int ranks) {
  std::vector<int64_t> loads(kBuckets);
  for (const std::string& note : notes) {
    ByteReader reader(note);
    reader.get<bool>();
    for (int64_t& load : loads) load += reader.get<int64_t>();
  }
  int64_t total = std::accumulate(loads.begin(), loads.end(), int64_t{0});
  double share = static_cast<double>(total) / ranks;
  // The load of a settled bucket is shared evenly by all ranks.
  std::vector<double> burdens(static_cast<size_t>(ranks));
  for (int64_t bucket = 0; bucket < kBuckets; ++bucket) {
    auto load = static_cast<double>(loads[static_cast<size_t>(bucket)]);
    if (!settled[static_cast<size_t>(bucket)]) {
      burdens[static_cast<size_t>(owner_of(bucket, ranks))] += load;
    } else {
      for (double& burden : burdens) burden += load / ranks;
    }
  }
  Buckets chosen(kBuckets);
  if (total < kMinRowsToHelp) return chosen;
  for (int64_t bucket = 0; bucket < kBuckets; ++bucket) {
    auto place = static_cast<size_t>(bucket);
    bool is_too_much = burdens[static_cast<size_t>(owner_of(bucket, ranks))] > kTooMuch * share;
    chosen[place] = is_too_much && !settled[place] && static_cast<double>(loads[place]) > kHeavyShare * share;
  }
  return chosen;
}

// Serializes the build rows of the chosen buckets that this rank owns. Empty: there are none, or they are too many to send.
std::string BucketHelp::build_rows_of(const Buckets& chosen) {
  Buckets own(kBuckets);
  for (int64_t bucket = 0; bucket < kBuckets; ++bucket)
    own[static_cast<size_t>(bucket)] = chosen[static_cast<size_t>(bucket)] && owner_of(bucket, ranks_) == rank_;
  std::lock_guard lock(join_mutex_);
  if (join_ == nullptr || std::find(own.begin(), own.end(), true) == own.end()) return "";
  try {
    std::optional<Chunk> rows = join_->build_rows(own, kMaxBroadcastBytes / ranks_);
    if (!rows) return "";
    at::Tensor block = pack_chunk(*rows);
    if (block.numel() > kMaxBroadcastBytes / ranks_) return "";
    return std::string(reinterpret_cast<const char*>(block.const_data_ptr<uint8_t>()), static_cast<size_t>(block.numel()));
  } catch (const OutOfMemory&) {
    return "";
  }
}

void BucketHelp::take_over(const Buckets& chosen, const std::vector<std::string>& notes) {
  Buckets taken(kBuckets);
  std::vector<Chunk> rows;
  for (int64_t bucket = 0; bucket < kBuckets; ++bucket) {
    int owner = owner_of(bucket, ranks_);
    taken[static_cast<size_t>(bucket)] = chosen[static_cast<size_t>(bucket)] && owner != rank_ && !notes[static_cast<size_t>(owner)].empty();
  }
  if (std::find(taken.begin(), taken.end(), true) == taken.end()) return;
  std::lock_guard join_lock(join_mutex_);
  if (join_ == nullptr) return;
  try {
    for (size_t owner = 0; owner < notes.size(); ++owner) {
      if (static_cast<int>(owner) != rank_ && !notes[owner].empty()) rows.push_back(unpack_chunk(block_of(notes[owner])));
    }
    join_->take_over(taken, std::move(rows));
  } catch (const OutOfMemory&) {
    return;  // the owners keep the work
  }
  // Only now that the join has the build rows may probe rows stay here.
  std::lock_guard lock(mutex_);
  at::Tensor owners = owners_.clone();
  for (int64_t bucket = 0; bucket < kBuckets; ++bucket) {
    if (taken[static_cast<size_t>(bucket)]) owners.mutable_data_ptr<int64_t>()[bucket] = rank_;
  }
  owners_ = owners;
}

Task<void> BucketHelp::run(BucketSpread& spread, ControlExchange& notes, uint32_t first_topic) {
  if (first_rows_ == 0) co_return;
  // All ranks must start from the same settled buckets.
  Task<void> deciding = spread.wait();
  co_await deciding;
  for (int round = 0; round < kRounds; ++round) {
    uint32_t topic = first_topic + static_cast<uint32_t>(round) * 2;
    Task<void> waiting = wait_for_rows(round);
    co_await waiting;
    Task<std::vector<std::string>> sharing = notes.share(topic, take_note());
    std::vector<std::string> loads = co_await sharing;
    // Every rank now has the same loads and so takes the same decisions.
    if (std::all_of(loads.begin(), loads.end(), is_last)) break;
    Buckets settled;
    {
      std::lock_guard lock(mutex_);
      settled = settled_;
    }
    Buckets chosen = choose(loads, settled, ranks_);
    if (std::find(chosen.begin(), chosen.end(), true) == chosen.end()) continue;
    {
      std::lock_guard lock(mutex_);
      for (size_t bucket = 0; bucket < chosen.size(); ++bucket) settled_[bucket] = settled_[bucket] || chosen[bucket];
    }
    Task<std::optional<int>> knowing = join_known_.receive();
    co_await knowing;
    Task<std::vector<std::string>> giving = notes.share(topic + 1, build_rows_of(chosen));
    std::vector<std::string> rows = co_await giving;
    take_over(chosen, rows);
  }
  is_counting_ = false;
}

}  // namespace pistachio
