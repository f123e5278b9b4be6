// Samples the use of storage, network and cores over the duration of a query, for EXPLAIN ANALYZE. A dedicated thread reads existing counters, less and
// less often as the query runs, so a long query costs no more than a short one. Memory: at most kMostSamples samples.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace pistachio {

class QueryExchanges;
class ReadPool;

// Counters of a rank at a moment, all since the beginning.
struct UseSample {
  int64_t nanoseconds = 0;
  int64_t bytes_read = 0;
  int64_t bytes_received = 0;
  int64_t core_nanoseconds = 0;  // of all threads of the process together
};

// Keeps samples that are evenly spread over a time of unknown length. Pure.
class SampleSeries {
 public:
  static constexpr size_t kMostSamples = 128;

  // When the next one is wanted.
  int64_t interval_nanoseconds() const { return interval_; }
  // When there are too many, every second one goes and the interval doubles.
  void add(const UseSample& sample);
  std::vector<UseSample> take() { return std::move(samples_); }

 private:
  std::vector<UseSample> samples_;
  int64_t interval_ = 500'000;
};

class UseSampler {
 public:
  // Both outlive it.
  UseSampler(const ReadPool& reads, const QueryExchanges& exchanges);
  ~UseSampler();
  UseSampler(const UseSampler&) = delete;
  UseSampler& operator=(const UseSampler&) = delete;

  // The samples from begin to end; the thread is gone afterwards.
  std::vector<UseSample> finish();

 private:
  void run();
  void stop();
  UseSample counters() const;

  const ReadPool& reads_;
  const QueryExchanges& exchanges_;
  UseSample origin_;
  SampleSeries series_;  // of the thread while it runs
  std::mutex mutex_;
  std::condition_variable stopping_changed_;
  bool is_stopping_ = false;  // guarded by mutex_
  std::thread thread_;
};

// The use in equal slots of time.
struct UseTimeline {
  double slot_seconds = 0;
  std::vector<double> storage;  // bytes a second
  std::vector<double> network;  // bytes a second that were received
  std::vector<double> cores;    // that were busy
};

// Over `seconds`, which may be longer than the samples: a rank may be done before others are.
UseTimeline timeline_of(const std::vector<UseSample>& samples, double seconds, size_t slots);

// `▁▂▇█ `: a character for each value, as high as it is to the largest.
std::string block_line(const std::vector<double>& values);

}  // namespace pistachio
