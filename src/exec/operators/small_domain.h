// Numbers the key combinations of a batch of rows if there are only few possible ones: columns with small dictionaries, booleans, integers
// and dates of a small range. Groups are then found by array index instead of by hash.
#pragma once

#include <optional>
#include <vector>

#include "data/column.h"

namespace pistachio {

class SmallDomain {
 public:
  // Nullopt if the keys have too many possible combinations, or if there are too few rows for it to pay.
  static std::optional<SmallDomain> of(const std::vector<Column>& keys, int64_t rows);

  // int32 [rows]: the number of each row's combination.
  const at::Tensor& places() const { return places_; }
  // The number of possible combinations.
  int64_t size() const { return size_; }
  // The keys of these combinations (int64).
  std::vector<Column> keys_at(const at::Tensor& places) const;

 private:
  // Digit 0 stands for NULL.
  struct Digit {
    Column key;
    int64_t least = 0;
    int64_t size = 1;
  };

  static std::optional<Digit> digit_of(const Column& key, int64_t most);
  static Column key_of(const Digit& digit, const at::Tensor& digits);

  std::vector<Digit> digits_;
  at::Tensor places_;
  int64_t size_ = 1;
};

}  // namespace pistachio
