// Finds the smallest and the greatest text value in byte order. Two eight-byte keys per candidate decide nearly all comparisons. Raw
// memory, one thread.
#pragma once

#include <cstdint>

#include "kernels/cpu/text_key.h"

namespace pistachio::kernels::cpu {

class TextExtremes {
 public:
  explicit TextExtremes(const uint8_t* end) : end_(end) {}

  // Add values in index order; among equal ones the first wins.
  void add(TextSpan value, int64_t index) {
    const uint64_t key = text_key(value, end_);
    if (key > min_.key && key < max_.key) return;
    if (key == min_.key && key == max_.key) {  // all values so far share their first eight bytes: compare the next
      const uint64_t second = text_key(value, end_, 8);
      if (second > min_.second_key && second < max_.second_key) return;
    }
    add_candidate(value, key, index);
  }

  int64_t min_index() const { return min_.index; }
  int64_t max_index() const { return max_.index; }

 private:
  struct Candidate {
    uint64_t key = 0;
    uint64_t second_key = 0;
    TextSpan value{nullptr, 0};
    int64_t index = -1;
  };

  // Compares a value with a candidate that has the same first key.
  int order_by_rest(TextSpan value, const Candidate& other) const {
    const uint64_t second = text_key(value, end_, 8);
    if (second != other.second_key) return second < other.second_key ? -1 : 1;
    return compare_text(value, other.value);
  }

  void add_candidate(TextSpan value, uint64_t key, int64_t index) {
    if (min_.index < 0) {
      min_ = max_ = {key, text_key(value, end_, 8), value, index};
      return;
    }
    if (key < min_.key || (key == min_.key && order_by_rest(value, min_) < 0)) min_ = {key, text_key(value, end_, 8), value, index};
    if (key > max_.key || (key == max_.key && order_by_rest(value, max_) > 0)) max_ = {key, text_key(value, end_, 8), value, index};
  }

  const uint8_t* end_;
  Candidate min_;  // key 0 until the first value, so that it always becomes a candidate
  Candidate max_;
};

}  // namespace pistachio::kernels::cpu
