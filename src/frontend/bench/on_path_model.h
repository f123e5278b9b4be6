// The keys of the on-path benchmark: how each source rank draws them, and the expected number of distinct keys of a rank, a host and all
// ranks together. Pure.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace pistachio {

enum class KeyModel {
  Disjoint,  // published: each rank of a host draws from its own range; all hosts have the same ranges
  Overlap,   // all ranks draw from one range
  Zipf,      // all ranks draw from one range; the i-th key is drawn with a probability proportional to 1/i
};

struct KeyModelName {
  std::string_view name;
  KeyModel model;
};

constexpr KeyModelName kKeyModels[] = {{"disjoint", KeyModel::Disjoint}, {"overlap", KeyModel::Overlap}, {"zipf", KeyModel::Zipf}};

std::string_view name_of(KeyModel model);

// Where duplicates are removed before rows reach the sink.
enum class DedupeAt {
  SinkOnly,    // all tuples cross the network
  SenderRank,  // each rank sends its distinct keys
  SenderHost,  // each host sends its distinct keys
};

// Source ranks draw with replacement, independently of each other.
struct OnPathData {
  KeyModel model = KeyModel::Disjoint;
  int key_bits = 32;      // 32 or 64
  int64_t tuples = 0;     // per source rank
  double uniqueness = 1;  // size of the range that a rank draws from, relative to its tuples; above 0, at most 1
  int source_hosts = 2;
  int ranks_per_host = 2;

  int source_ranks() const { return source_hosts * ranks_per_host; }
  int64_t all_tuples() const { return tuples * source_ranks(); }
  int64_t range() const;
  // The smallest key that a rank may draw; `place` is the rank's number within its host.
  int64_t first_key(int place) const;
};

// Means over all random draws; actual counts differ by far less than 1 % above some thousand keys.
struct ExpectedKeys {
  double per_rank = 0;
  double per_host = 0;
  double in_all = 0;
};

ExpectedKeys expected_keys(const OnPathData& data);

// Rows that reach the sink, if duplicates are removed completely there.
double expected_rows(const OnPathData& data, DedupeAt where);
// The same in bytes: a row is its key, and the few bytes that describe a message are neglected.
double expected_bytes(const OnPathData& data, DedupeAt where);

// Draws the numbers 1 .. count, the i-th with a probability proportional to 1/i, by rejection inversion (Hörmann and Derflinger 1996):
// constant time and memory, however large the range.
class ZipfNumbers {
 public:
  explicit ZipfNumbers(int64_t count);

  // `next` returns uniform random numbers in [0, 1).
  template <typename Next>
  int64_t draw(const Next& next) const {
    while (true) {
      int64_t number = 0;
      if (accepts(next(), number)) return number;
    }
  }

 private:
  bool accepts(double uniform, int64_t& number) const;

  int64_t count_;
  double low_;
  double high_;
  double always_accepted_;
};

}  // namespace pistachio
