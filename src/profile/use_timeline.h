// Samples the use of storage, network and cores over the duration of a query, for EXPLAIN ANALYZE. A dedicated thread reads existing
// counters, less and less often as the query runs, so a long query costs no more than a short one. Memory: at most kMaxSamples samples.
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

// Counters of a rank at a moment, since the start of the query.
struct UseSample {
  int64_t nanoseconds = 0;
  int64_t bytes_read = 0;
  int64_t bytes_received = 0;
  int64_t core_nanoseconds = 0;  // of all threads of the process
};

// Keeps evenly spaced samples of a period of unknown length. Pure.
class SampleSeries {
 public:
  static constexpr size_t kMaxSamples = 128;

  // Time until the next sample is due.
  int64_t interval_nanoseconds() const { return interval_; }
  // At the limit, drops every second sample and doubles the interval.
  void add(const UseSample& sample);
  std::vector<UseSample> take() { return std::move(samples_); }

 private:
  std::vector<UseSample> samples_;
  int64_t interval_ = 500'000;
};

class UseSampler {
 public:
  // Both must outlive it.
  UseSampler(const ReadPool& reads, const QueryExchanges& exchanges);
  ~UseSampler();
  UseSampler(const UseSampler&) = delete;
  UseSampler& operator=(const UseSampler&) = delete;

  // The samples from start to end; stops the thread.
  std::vector<UseSample> finish();

 private:
  void run();
  void stop();
  UseSample counters() const;

  const ReadPool& reads_;
  const QueryExchanges& exchanges_;
  UseSample origin_;
  SampleSeries series_;  // owned by the thread while it runs
  std::mutex mutex_;
  std::condition_variable stopping_changed_;
  bool is_stopping_ = false;  // guarded by mutex_
  std::thread thread_;
};

// Use in equal time slots.
struct UseTimeline {
  double slot_seconds = 0;
  std::vector<double> storage;  // bytes per second
  std::vector<double> network;  // bytes received per second
  std::vector<double> cores;    // busy cores
};

// Over `seconds`, which may be longer than the samples: a rank may finish before others.
UseTimeline timeline_of(const std::vector<UseSample>& samples, double seconds, size_t slots);

// `▁▂▇█ `: one character per value, its height relative to the maximum.
std::string block_line(const std::vector<double>& values);

}  // namespace pistachio
