// The known name that a misspelt one probably means.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace pistachio {

// Letters to insert, delete, replace or exchange with their neighbour. Names are short.
inline size_t name_distance(std::string_view left, std::string_view right) {
  std::vector<std::vector<size_t>> rows(left.size() + 1, std::vector<size_t>(right.size() + 1));
  for (size_t j = 0; j <= right.size(); ++j) rows[0][j] = j;
  for (size_t i = 1; i <= left.size(); ++i) {
    rows[i][0] = i;
    for (size_t j = 1; j <= right.size(); ++j) {
      const size_t replaced = rows[i - 1][j - 1] + (left[i - 1] == right[j - 1] ? 0 : 1);
      rows[i][j] = std::min({rows[i - 1][j] + 1, rows[i][j - 1] + 1, replaced});
      const bool is_swap = i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
      if (is_swap) rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows[left.size()][right.size()];
}

// Keeps the nearest of several candidates; empty unless one is near.
class NearestName {
 public:
  // Longer names are not compared.
  static constexpr size_t kLongest = 64;

  explicit NearestName(std::string_view wanted) : wanted_(wanted) {}
  void consider(std::string_view candidate) {
    if (wanted_.size() > kLongest || candidate.size() > kLongest) return;
    const size_t distance = name_distance(candidate, wanted_);
    if (distance >= least_ || distance * 2 > wanted_.size() + 1) return;
    least_ = distance;
    nearest_ = candidate;
  }
  std::string_view nearest() const { return nearest_; }

 private:
  std::string_view wanted_;
  std::string_view nearest_;
  size_t least_ = 4;
};

}  // namespace pistachio
