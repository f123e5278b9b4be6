#include "frontend/bench/on_path_model.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace pistachio {

namespace {

// Keys of 64 bits must not fit into 32.
constexpr int64_t kFirstWideKey = int64_t{1} << 40;
// The frequencies of the first keys are added one by one, the rest in blocks of similar frequency.
constexpr int64_t kKeysOneByOne = 4096;
constexpr int64_t kBlockShare = 1024;

// Expected number of different keys among `draws` draws of a key with this probability: 1 - (1 - p)^draws.
double chance_to_appear(double probability, double draws) {
  return probability >= 1 ? 1 : -std::expm1(draws * std::log1p(-probability));
}

// Calls body(key, keys): `keys` keys around the one with the number `key` (1 is the most frequent) have about its frequency.
template <typename Body>
void for_each_block(int64_t range, const Body& body) {
  for (int64_t begin = 1; begin <= range;) {
    const int64_t width = begin <= kKeysOneByOne ? 1 : std::min(begin / kBlockShare, range + 1 - begin);
    body(static_cast<double>(begin) + static_cast<double>(width - 1) / 2, static_cast<double>(width));
    begin += width;
  }
}

double expected_zipf(int64_t range, double draws) {
  double sum = 0;
  for_each_block(range, [&](double key, double keys) { sum += keys / key; });
  double expected = 0;
  for_each_block(range, [&](double key, double keys) { expected += keys * chance_to_appear(1 / (key * sum), draws); });
  return expected;
}

double expected_uniform(int64_t range, double draws) {
  const auto keys = static_cast<double>(range);
  return keys * chance_to_appear(1 / keys, draws);
}

}  // namespace

std::string_view name_of(KeyModel model) {
  for (const KeyModelName& known : kKeyModels) {
    if (known.model == model) return known.name;
  }
  fail_check(__FILE__, __LINE__, "a key model without a name");
}

int64_t OnPathData::range() const {
  return std::max<int64_t>(1, std::llround(static_cast<double>(tuples) * uniqueness));
}

int64_t OnPathData::first_key(int place) const {
  return (key_bits == 64 ? kFirstWideKey : 1) + (model == KeyModel::Disjoint ? place * range() : 0);
}

ExpectedKeys expected_keys(const OnPathData& data) {
  const auto of_rank = static_cast<double>(data.tuples);
  const auto of_host = of_rank * data.ranks_per_host;
  const auto of_all = of_host * data.source_hosts;
  const int64_t range = data.range();
  switch (data.model) {
    case KeyModel::Disjoint: {
      // A range is drawn from by one rank of each host.
      const double own = expected_uniform(range, of_rank);
      return {own, own * data.ranks_per_host, expected_uniform(range, of_rank * data.source_hosts) * data.ranks_per_host};
    }
    case KeyModel::Overlap: return {expected_uniform(range, of_rank), expected_uniform(range, of_host), expected_uniform(range, of_all)};
    case KeyModel::Zipf: return {expected_zipf(range, of_rank), expected_zipf(range, of_host), expected_zipf(range, of_all)};
  }
  fail_check(__FILE__, __LINE__, "an unknown key model");
}

double expected_rows(const OnPathData& data, DedupeAt where) {
  switch (where) {
    case DedupeAt::SinkOnly: return static_cast<double>(data.all_tuples());
    case DedupeAt::SenderRank: return expected_keys(data).per_rank * data.source_ranks();
    case DedupeAt::SenderHost: return expected_keys(data).per_host * data.source_hosts;
  }
  fail_check(__FILE__, __LINE__, "an unknown place of deduplication");
}

double expected_bytes(const OnPathData& data, DedupeAt where) {
  return expected_rows(data, where) * data.key_bits / 8;
}

// The hat is the integral of 1/x, so its inverse is exp.
ZipfNumbers::ZipfNumbers(int64_t count)
    : count_(count),
      low_(std::log(1.5) - 1),
      high_(std::log(static_cast<double>(count) + 0.5)),
      always_accepted_(2 - std::exp(std::log(2.5) - 0.5)) {}

bool ZipfNumbers::accepts(double uniform, int64_t& number) const {
  const double area = high_ + uniform * (low_ - high_);
  const double place = std::exp(area);
  number = std::clamp<int64_t>(std::llround(place), 1, count_);
  const auto key = static_cast<double>(number);
  return key - place <= always_accepted_ || area >= std::log(key + 0.5) - 1 / key;
}

}  // namespace pistachio
