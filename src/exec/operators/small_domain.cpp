#include "exec/operators/small_domain.h"

#include <algorithm>

#include "columns/row_selection.h"
#include "kernels/ops/key_places.h"
#include "kernels/ops/summarize.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

// Clearing and scanning the table of combinations must cost less than hashing the rows, and the table must fit into the L2 cache.
constexpr int64_t kMaxPlaces = 1 << 15;
constexpr int64_t kMinRows = 256;

}  // namespace

std::optional<SmallDomain::Digit> SmallDomain::digit_of(const Column& key, int64_t most) {
  if (key.is_dictionary()) {
    const int64_t entries = key.dictionary_column()->rows();
    if (entries == 0 || entries >= most || key.dictionary_column()->has_validity()) return std::nullopt;
    return Digit{key, 0, entries + 1};
  }
  if (key.type().is_text() || key.type().is_wide() || key.type().is_floating() || key.type().kind() == TypeKind::Interval) return std::nullopt;
  if (key.type().kind() == TypeKind::Boolean) return Digit{key, 0, 3};
  const kernels::ColumnSummary summary = kernels::summarize(key.values(), key.validity());
  if (summary.max - summary.min >= most) return std::nullopt;
  return Digit{key, static_cast<int64_t>(summary.min), static_cast<int64_t>(summary.max - summary.min) + 2};
}

std::optional<SmallDomain> SmallDomain::of(const std::vector<Column>& keys, int64_t rows) {
  if (rows < kMinRows) return std::nullopt;
  const int64_t most = std::min(kMaxPlaces, rows / 2);
  SmallDomain made;
  for (const Column& key : keys) {
    std::optional<Digit> digit = digit_of(key, most / made.size_);
    if (!digit || digit->size > most / made.size_) return std::nullopt;
    made.size_ *= digit->size;
    made.digits_.push_back(std::move(*digit));
  }
  for (const Digit& digit : made.digits_) {
    const at::Tensor& values = digit.key.is_dictionary() ? digit.key.codes() : digit.key.values();
    made.places_ = kernels::append_digit(made.places_, values, digit.least, digit.size, digit.key.validity());
  }
  return made;
}

Column SmallDomain::key_of(const Digit& digit, const at::Tensor& digits) {
  const at::Tensor validity = digit.key.has_validity() ? digits.gt(0) : at::Tensor();
  const at::Tensor values = digit.key.has_validity() ? (digits - 1).clamp_min(0) : digits - 1;
  if (!digit.key.is_dictionary())
    return Column::fixed(digit.key.type(), (values + digit.least).to(digit.key.values().scalar_type()), validity);
  const Column entries = take_rows(*digit.key.dictionary_column(), values);
  if (!validity.defined()) return entries;
  if (entries.type().is_text()) return Column::text(entries.type(), entries.bytes(), entries.begins(), entries.ends(), validity);
  return Column::fixed(entries.type(), entries.values(), validity);
}

std::vector<Column> SmallDomain::keys_at(const at::Tensor& places) const {
  std::vector<Column> keys;
  at::Tensor rest = places;
  for (size_t i = digits_.size(); i-- > 1;) {
    keys.push_back(key_of(digits_[i], rest.remainder(digits_[i].size)));
    rest = rest.floor_divide(digits_[i].size);
  }
  keys.push_back(key_of(digits_[0], rest));
  std::reverse(keys.begin(), keys.end());
  return keys;
}

}  // namespace pistachio
