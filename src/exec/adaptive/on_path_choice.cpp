#include "exec/adaptive/on_path_choice.h"

#include <algorithm>
#include <map>

#include "base/byte_stream.h"
#include "kernels/ops/tensor_functions.h"
#include "physical/combining_costs.h"

namespace pistachio {

namespace {

constexpr size_t kMaxChosen = 4096;
// Rows between two observations: enough to distinguish shares that differ by 0.01.
constexpr int64_t kRowsToObserve = 1 << 16;
// Rows after whose production their time is measured.
constexpr int64_t kRowsToTime = 1 << 14;
// Merging begins before anything is measured if removing this share of the rows would pay.
constexpr double kShareToTry = 0.18;
// The part of the shorter one of work and link time that does not pass while the longer one does: measured for queries with links from 0.5
// to 10 Gbit/s, with and without merging (docs/performance.md).
constexpr double kExposed = 0.3;
// Merging is turned off unless it shortens a row's time by this factor, and on again only by the second one.
constexpr double kGain = 0.95;
constexpr double kClearGain = 0.85;
// A change takes time as well, as much as this many rows lose by merging that lengthens their time by kPatience.
constexpr double kRowsOfChange = 500'000;
constexpr double kPatience = 0.3;
// Below this share merging ends at once: nothing can make it pay.
constexpr double kHopelessShare = 0.02;

struct SampleOfRank {
  int bits = 0;
  std::vector<int64_t> chosen;
};

SampleOfRank read_note(const std::string& note) {
  ByteReader reader(note);
  SampleOfRank sample;
  sample.bits = std::min<int>(reader.get<uint8_t>(), 63);
  const size_t count = reader.get_count(sizeof(int64_t));
  for (size_t i = 0; i < count; ++i) sample.chosen.push_back(reader.get<int64_t>());
  return sample;
}

bool is_chosen(int64_t hash, int bits) {
  return (static_cast<uint64_t>(hash) & ((uint64_t{1} << bits) - 1)) == 0;
}

// The samples of several ranks, reduced to the keys that all of them would have selected.
std::vector<SampleOfRank> comparable_samples(const std::vector<std::string>& notes) {
  std::vector<SampleOfRank> samples;
  int bits = 0;
  for (const std::string& note : notes) {
    SampleOfRank& sample = samples.emplace_back(read_note(note));
    bits = std::max(bits, sample.bits);
  }
  for (SampleOfRank& sample : samples) std::erase_if(sample.chosen, [&](int64_t hash) { return !is_chosen(hash, bits); });
  return samples;
}

size_t count_distinct(std::vector<int64_t> hashes) {
  std::sort(hashes.begin(), hashes.end());
  return static_cast<size_t>(std::unique(hashes.begin(), hashes.end()) - hashes.begin());
}

double share_of_duplicates(size_t rows, size_t keys) {
  return rows == 0 ? 0 : static_cast<double>(rows - keys) / static_cast<double>(rows);
}

// After each change of the decision twice as many rows are needed before the next one, so that it does not oscillate.
int64_t doubled(int64_t rows, int64_t changes) {
  return rows << std::min<int64_t>(changes, 20);
}

double together(double work, double link) {
  return std::max(work, link) + kExposed * std::min(work, link);
}

}  // namespace

void KeySample::add(const at::Tensor& hashes) {
  rows_ += hashes.numel();
  const at::Tensor low_bits = hashes.bitwise_and((int64_t{1} << bits_) - 1);
  const at::Tensor chosen = (bits_ == 0 ? hashes : hashes.masked_select(low_bits.eq(0))).to(at::kCPU).contiguous();
  const int64_t* hash = chosen.const_data_ptr<int64_t>();
  chosen_.insert(chosen_.end(), hash, hash + chosen.numel());
  while (chosen_.size() > kMaxChosen) thin();
}

void KeySample::thin() {
  ++bits_;
  std::erase_if(chosen_, [&](int64_t hash) { return !is_chosen(hash, bits_); });
}

std::string KeySample::note() const {
  ByteWriter writer;
  writer.put(static_cast<uint8_t>(bits_));
  writer.put<uint64_t>(chosen_.size());
  for (int64_t hash : chosen_) writer.put(hash);
  return writer.take();
}

double KeySample::mergeable_share(const std::vector<std::string>& notes) {
  std::vector<int64_t> all;
  for (const SampleOfRank& sample : comparable_samples(notes)) all.insert(all.end(), sample.chosen.begin(), sample.chosen.end());
  return share_of_duplicates(all.size(), count_distinct(all));
}

double KeySample::arrival_share(const std::vector<std::string>& notes, const std::vector<int64_t>& hosts) {
  const std::vector<SampleOfRank> samples = comparable_samples(notes);
  std::vector<int64_t> all;
  std::map<int64_t, std::vector<int64_t>> of_hosts;
  for (size_t rank = 0; rank < samples.size(); ++rank) {
    const std::vector<int64_t>& chosen = samples[rank].chosen;
    all.insert(all.end(), chosen.begin(), chosen.end());
    of_hosts[hosts[rank]].insert(of_hosts[hosts[rank]].end(), chosen.begin(), chosen.end());
  }
  size_t rows = 0;
  for (const auto& [host, of_host] : of_hosts) rows += count_distinct(of_host);
  return share_of_duplicates(rows, count_distinct(all));
}

OnPathChoice::OnPathChoice(double link_seconds, double row_bytes, double lanes, bool may_be_off)
    : link_seconds_(link_seconds),
      lanes_(lanes),
      may_be_off_(may_be_off),
      hand_over_seconds_(pistachio::hand_over_seconds(row_bytes)),
      merge_seconds_(pistachio::merge_seconds(row_bytes)) {
  is_on_ = !may_be_off_;
}

void OnPathChoice::begin(double link_seconds) {
  if (!may_be_off_) return;
  std::lock_guard lock(mutex_);
  link_seconds_ = link_seconds;
  is_on_ = with_merging(kShareToTry) < kGain * without_merging();
}

double OnPathChoice::path_seconds() const {
  return (hand_over_seconds_ + merge_seconds_) / lanes_;
}

double OnPathChoice::without_merging() const {
  return together(produce_seconds_, link_seconds_);
}

double OnPathChoice::with_merging(double share) const {
  return together(produce_seconds_ + path_seconds(), link_seconds_ * (1 - share));
}

double OnPathChoice::least_share() const {
  const double limit = kGain * without_merging(), work = produce_seconds_ + path_seconds();
  // The link time with which a row takes as long as the limit.
  const double as_longer = limit - kExposed * work, as_shorter = (limit - work) / kExposed;
  const double link = as_longer >= work ? as_longer : as_shorter;
  return std::clamp<double>(1 - link / link_seconds_, 0.0, 1.0);
}

void OnPathChoice::decide() {
  const double few = std::min(1.0, kRowsOfChange / static_cast<double>(std::max<int64_t>(1, seen_)));
  const double patience = share_ < kHopelessShare ? 0 : kPatience * few;
  // The first decision needs no hysteresis.
  const double gain = is_on_ ? kGain + patience : changes_ == 0 ? kGain : kClearGain;
  const bool is_better = with_merging(share_) < gain * without_merging();
  if (is_better == is_on_ || (is_better && !has_timed_)) return;
  is_on_ = is_better;
  ++changes_;
}

void OnPathChoice::estimate(double share, double arrival_share) {
  estimated_share_ = share;
  arrival_share_ = arrival_share;
  if (!may_be_off_) return;
  std::lock_guard lock(mutex_);
  share_ = share;
  decide();
}

void OnPathChoice::observe(int64_t added, int64_t merged, int64_t left, int64_t nanoseconds) {
  if (!may_be_off_) return;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || estimated_share_ < 0) return;
  // While merging is off, most of the time is that of calls for few rows.
  if (!is_on_) {
    timed_rows_ = added;
    timed_nanoseconds_ = nanoseconds;
  }
  seen_ = std::max(seen_, added);
  // Rows that are still in a table may merge with later ones. Not counting them overestimates the share while tables fill up, counting
  // them underestimates it; the decision is changed only if both agree.
  const int64_t more_merged = merged - merged_;
  const int64_t counted = is_on_ ? more_merged + left - left_ : added - added_;
  if (counted < doubled(kRowsToObserve, changes_)) return;
  // Averaged with what was known before: for a while, one rank may be far ahead of the others.
  share_ = (share_ + static_cast<double>(more_merged) / static_cast<double>(counted)) / 2;
  // Of the rows that came, or that left: the time includes that of emptying tables.
  if (const int64_t rows = std::max(added - timed_rows_, counted); is_on_ && added - timed_rows_ >= kRowsToTime) {
    merge_seconds_ = static_cast<double>(nanoseconds - timed_nanoseconds_) / 1e9 / static_cast<double>(rows);
    timed_rows_ = added;
    timed_nanoseconds_ = nanoseconds;
  }
  added_ = added;
  merged_ = merged;
  left_ = left;
  decide();
}

void OnPathChoice::produce(int64_t rows, double seconds) {
  if (!may_be_off_) return;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || rows - produced_ < kRowsToTime) return;
  const double measured = std::max(0.0, seconds - produced_seconds_) / static_cast<double>(rows - produced_);
  // While rows are merged, the same cores do both.
  produce_seconds_ = is_on_ ? std::max(0.0, measured - path_seconds()) : measured;
  has_timed_ = true;
  seen_ = std::max(seen_, rows);
  if (estimated_share_ < 0 || rows - produced_ < doubled(kRowsToTime, 2 * changes_)) return;
  const int64_t changes = changes_;
  decide();
  if (changes_ == changes) return;
  produced_ = rows;
  produced_seconds_ = seconds;
}

}  // namespace pistachio
