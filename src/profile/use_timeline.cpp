#include "profile/use_timeline.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/start_thread.h"
#include "network/exchange_hub.h"
#include "storage/read_pool.h"

namespace pistachio {

namespace {

int64_t steady_nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int64_t process_nanoseconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// The counter at a moment between two samples; constant before the first and after the last.
double value_at(const std::vector<UseSample>& samples, int64_t UseSample::*counter, double nanoseconds) {
  if (samples.empty()) return 0;
  auto later = std::find_if(samples.begin(), samples.end(),
                            [&](const UseSample& sample) { return static_cast<double>(sample.nanoseconds) >= nanoseconds; });
  if (later == samples.begin()) return static_cast<double>(samples.front().*counter);
  if (later == samples.end()) return static_cast<double>(samples.back().*counter);
  const UseSample& before = *(later - 1);
  auto width = static_cast<double>(later->nanoseconds - before.nanoseconds);
  double share = (nanoseconds - static_cast<double>(before.nanoseconds)) / width;
  return static_cast<double>(before.*counter) + share * static_cast<double>((*later).*counter - before.*counter);
}

}  // namespace

void SampleSeries::add(const UseSample& sample) {
  if (samples_.size() == kMaxSamples) {
    // Keeps the first sample, the origin, and the new one, which may be the last and then has the totals.
    size_t kept = 0;
    for (size_t i = 0; i < samples_.size(); i += 2) samples_[kept++] = samples_[i];
    samples_.resize(kept);
    interval_ *= 2;
  }
  samples_.push_back(sample);
}

UseSampler::UseSampler(const ReadPool& reads, const QueryExchanges& exchanges) : reads_(reads), exchanges_(exchanges) {
  origin_ = {.nanoseconds = steady_nanoseconds(), .bytes_read = reads_.statistics().bytes, .core_nanoseconds = process_nanoseconds()};
  series_.add({});
  thread_ = start_thread("the timeline of EXPLAIN ANALYZE", "raise the limit on processes (ulimit -u)", [this] { run(); });
}

UseSampler::~UseSampler() {
  stop();
}

void UseSampler::stop() {
  {
    std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  stopping_changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::vector<UseSample> UseSampler::finish() {
  stop();
  series_.add(counters());
  return series_.take();
}

void UseSampler::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    auto interval = std::chrono::nanoseconds(series_.interval_nanoseconds());
    if (stopping_changed_.wait_for(lock, interval, [&] { return is_stopping_; })) return;
    series_.add(counters());
  }
}

UseSample UseSampler::counters() const {
  UseSample now{.nanoseconds = steady_nanoseconds() - origin_.nanoseconds,
                .bytes_read = reads_.statistics().bytes - origin_.bytes_read,
                .core_nanoseconds = process_nanoseconds() - origin_.core_nanoseconds};
  for (size_t number = 0; number < exchanges_.count(); ++number) now.bytes_received += exchanges_.figures(number).bytes_received;
  return now;
}

UseTimeline timeline_of(const std::vector<UseSample>& samples, double seconds, size_t slots) {
  UseTimeline timeline{.slot_seconds = seconds / static_cast<double>(slots), .storage = {}, .network = {}, .cores = {}};
  double width = timeline.slot_seconds * 1e9;
  for (size_t slot = 0; slot < slots; ++slot) {
    double begin = static_cast<double>(slot) * width;
    // Rounding must not lose the use right after the last slot.
    bool is_last = slot + 1 == slots && !samples.empty();
    double end = is_last ? std::max(begin + width, static_cast<double>(samples.back().nanoseconds)) : begin + width;
    auto growth = [&](int64_t UseSample::*counter) { return value_at(samples, counter, end) - value_at(samples, counter, begin); };
    double slot_seconds = std::max(timeline.slot_seconds, 1e-9);
    timeline.storage.push_back(growth(&UseSample::bytes_read) / slot_seconds);
    timeline.network.push_back(growth(&UseSample::bytes_received) / slot_seconds);
    timeline.cores.push_back(growth(&UseSample::core_nanoseconds) / 1e9 / slot_seconds);
  }
  return timeline;
}

std::string block_line(const std::vector<double>& values) {
  static constexpr const char* kBlocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  double largest = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
  std::string line;
  for (double value : values) {
    // Any use is visible.
    double height = largest > 0 && value > 0 ? std::clamp(std::ceil(value / largest * 8 - 0.5), 1.0, 8.0) : 0;
    line += kBlocks[static_cast<size_t>(height)];
  }
  return line;
}

}  // namespace pistachio
