// How much two texts differ: edit distances, Jaccard and Jaro similarity. Work and memory are in proportion to the product, or for the
// others to the sum, of the lengths, which are limited.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <vector>

#include "base/error.h"
#include "expr/argument_access.h"
#include "expr/function_families.h"
#include "expr/polled_text.h"

namespace pistachio {

namespace {

// Characters of a text whose distance is computed: a hundred million steps at most.
constexpr size_t kLongestCompared = 10'000;

using Bytes = std::string_view;

void check_lengths(Bytes left, Bytes right) {
  if (std::max(left.size(), right.size()) > kLongestCompared)
    throw UserError(fmt::format("texts of more than {} bytes cannot be compared by distance", kLongestCompared));
}

// With `swaps`, exchanging two neighbours is one step (optimal string alignment).
int64_t edit_distance(Bytes left, Bytes right, bool swaps) {
  check_lengths(left, right);
  const size_t width = right.size() + 1;
  std::vector<int64_t> before_last(width), last(width), row(width);
  for (size_t j = 0; j < width; ++j) row[j] = static_cast<int64_t>(j);
  for (size_t i = 1; i <= left.size(); ++i) {
    before_last.swap(last);
    last.swap(row);
    row[0] = static_cast<int64_t>(i);
    for (size_t j = 1; j < width; ++j) {
      const bool same = left[i - 1] == right[j - 1];
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      const bool is_swap = swaps && i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
      if (is_swap) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[right.size()];
}

int64_t hamming_distance(Bytes left, Bytes right) {
  if (left.size() != right.size()) throw UserError("hamming compares texts of the same length");
  int64_t different = 0;
  for (size_t i = 0; i < left.size(); ++i) different += left[i] == right[i] ? 0 : 1;
  return different;
}

double jaccard_similarity(Bytes left, Bytes right) {
  if (left.empty() || right.empty()) throw UserError("jaccard compares texts that are not empty");
  std::bitset<256> in_left;
  std::bitset<256> in_right;
  for (const char c : left) in_left.set(static_cast<uint8_t>(c));
  for (const char c : right) in_right.set(static_cast<uint8_t>(c));
  return static_cast<double>((in_left & in_right).count()) / static_cast<double>((in_left | in_right).count());
}

double jaro_similarity(Bytes left, Bytes right) {
  check_lengths(left, right);
  if (left.empty() || right.empty()) return 0;
  const size_t longest = std::max(left.size(), right.size());
  const size_t reach = longest / 2 > 0 ? longest / 2 - 1 : 0;
  std::vector<bool> of_left(left.size());
  std::vector<bool> of_right(right.size());
  double matches = 0;
  for (size_t i = 0; i < left.size(); ++i) {
    const size_t end = std::min(i + reach + 1, right.size());
    for (size_t j = i > reach ? i - reach : 0; j < end; ++j) {
      if (of_right[j] || left[i] != right[j]) continue;
      of_left[i] = of_right[j] = true;
      ++matches;
      break;
    }
  }
  if (matches == 0) return 0;
  double moved = 0;
  size_t j = 0;
  for (size_t i = 0; i < left.size(); ++i) {
    if (!of_left[i]) continue;
    while (!of_right[j]) ++j;
    moved += left[i] == right[j] ? 0 : 1;
    ++j;
  }
  return (matches / static_cast<double>(left.size()) + matches / static_cast<double>(right.size()) + (matches - moved / 2) / matches) / 3;
}

double jaro_winkler_similarity(Bytes left, Bytes right) {
  const double jaro = jaro_similarity(left, right);
  constexpr double least_boosted = 0.7;
  if (jaro <= least_boosted) return jaro;
  size_t prefix = 0;
  while (prefix < std::min({size_t{4}, left.size(), right.size()}) && left[prefix] == right[prefix]) ++prefix;
  return jaro + static_cast<double>(prefix) * 0.1 * (1 - jaro);
}

template <typename Value, auto compare>
Column compare_rows_of_text(const FunctionCall& call) {
  ArgumentText left(call.arguments[0]);
  ArgumentText right(call.arguments[1]);
  CountedRows counted(call);
  auto compute = [&](int64_t row, auto&) -> Value { return counted[row] ? compare(left[row], right[row]) : Value(); };
  return fill_text_rows<Value>(call, compute, left, right);
}

int64_t levenshtein_distance(Bytes left, Bytes right) {
  return edit_distance(left, right, false);
}

int64_t damerau_distance(Bytes left, Bytes right) {
  return edit_distance(left, right, true);
}

template <TypeKind result>
constexpr Function make_comparison(std::string_view name, Column (*evaluate)(const FunctionCall&), std::string_view signature,
                                   std::string_view description) {
  return {.name = name,
          .resolve = resolve_as<result, kText, kText>,
          .evaluate = evaluate,
          .can_raise = true,
          .signature = signature,
          .description = description};
}

const std::array kSimilarityFunctions = {
    make_comparison<kWhole>("levenshtein", compare_rows_of_text<int64_t, levenshtein_distance>,
                            "levenshtein(text VARCHAR, other VARCHAR) -> BIGINT",
                            "Bytes to insert, delete or replace to turn one text into the other"),
    make_comparison<kWhole>("damerau_levenshtein", compare_rows_of_text<int64_t, damerau_distance>,
                            "damerau_levenshtein(text VARCHAR, other VARCHAR) -> BIGINT",
                            "Bytes to insert, delete, replace or exchange with their neighbour to turn one text into the other"),
    make_comparison<kWhole>("hamming", compare_rows_of_text<int64_t, hamming_distance>, "hamming(text VARCHAR, other VARCHAR) -> BIGINT",
                            "Number of places at which two texts of the same length differ"),
    make_comparison<kDouble>("jaccard", compare_rows_of_text<double, jaccard_similarity>, "jaccard(text VARCHAR, other VARCHAR) -> DOUBLE",
                             "Share of the bytes in either text that are in both"),
    make_comparison<kDouble>("jaro_similarity", compare_rows_of_text<double, jaro_similarity>,
                             "jaro_similarity(text VARCHAR, other VARCHAR) -> DOUBLE", "Jaro similarity, from 0 to 1"),
    make_comparison<kDouble>("jaro_winkler_similarity", compare_rows_of_text<double, jaro_winkler_similarity>,
                             "jaro_winkler_similarity(text VARCHAR, other VARCHAR) -> DOUBLE",
                             "Jaro similarity, raised for a common start"),
};

}  // namespace

std::span<const Function> similarity_functions() {
  return kSimilarityFunctions;
}

}  // namespace pistachio
