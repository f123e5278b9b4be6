// CPU bodies of compare_to_groups and compare_to_groups_text. Groups are accessed at random, so blocks of rows fetch ahead what they
// compare.
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <type_traits>

#include "kernels/cpu/text_key.h"
#include "kernels/cpu/value16.h"
#include "kernels/cpu/value_kind_of.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/body_table.h"

namespace pistachio::kernels::cpu {

namespace {

constexpr int64_t kBlockRows = 64;

// Calls body(rows, count) for blocks of the rows that must be compared.
template <typename Body>
void for_each_block_to_compare(const bool* equal, const int64_t* ids, int64_t first_new, int64_t rows, const Body& body) {
  int64_t compared[kBlockRows];
  for (int64_t begin = 0; begin < rows; begin += kBlockRows) {
    const int64_t end = std::min(rows, begin + kBlockRows);
    int64_t count = 0;
    for (int64_t row = begin; row < end; ++row) {
      const bool is_first = ids[row] == first_new;
      first_new += is_first;
      compared[count] = row;
      count += !is_first && equal[row];
    }
    if (count > 0) body(static_cast<const int64_t*>(compared), count);
  }
}

template <typename T>
bool is_same(const T& left, const T& right) {
  if constexpr (std::is_same_v<T, Value16>) {
    return left.words[0] == right.words[0] && left.words[1] == right.words[1];
  } else {
    return left == right || (left != left && right != right);
  }
}

template <typename T>
bool compare_values(bool* equal, const int64_t* ids, int64_t first_new, int64_t rows, const T* group_values, const T* row_values) {
  bool all = true;
  for_each_block_to_compare(equal, ids, first_new, rows, [&](const int64_t* compared, int64_t count) {
    for (int64_t i = 0; i < count; ++i) __builtin_prefetch(group_values + ids[compared[i]]);
    for (int64_t i = 0; i < count; ++i) {
      const bool same = is_same(group_values[ids[compared[i]]], row_values[compared[i]]);
      equal[compared[i]] = same;
      all &= same;
    }
  });
  return all;
}

bool compare_to_groups(at::Tensor& equal, const at::Tensor& ids, int64_t first_new, const at::Tensor& groups, const at::Tensor& rows) {
  bool* out = equal.mutable_data_ptr<bool>();
  const int64_t* groups_of_rows = ids.const_data_ptr<int64_t>();
  const auto compare = [&](auto type) {
    using T = decltype(type);
    return compare_values(out, groups_of_rows, first_new, ids.numel(), static_cast<const T*>(groups.const_data_ptr()),
                          static_cast<const T*>(rows.const_data_ptr()));
  };
  if (is_wide(rows)) return compare(Value16{});
  return with_type(value_kind_of(rows), compare);
}

struct TextValues {
  TextValues(const at::Tensor& bytes, const at::Tensor& begin_words, const at::Tensor& end_words)
      : data(bytes.const_data_ptr<uint8_t>()), begins(begin_words.const_data_ptr<int64_t>()), ends(end_words.const_data_ptr<int64_t>()) {}

  int64_t length(int64_t row) const { return ends[row] - begins[row]; }
  const uint8_t* at(int64_t row) const { return data + begins[row]; }
  void fetch_bounds(int64_t row) const {
    __builtin_prefetch(begins + row);
    __builtin_prefetch(ends + row);
  }

  const uint8_t* data;
  const int64_t* begins;
  const int64_t* ends;
};

bool compare_texts(bool* equal, const int64_t* ids, int64_t first_new, int64_t rows, const TextValues& groups, const TextValues& values) {
  bool all = true;
  for_each_block_to_compare(equal, ids, first_new, rows, [&](const int64_t* compared, int64_t count) {
    for (int64_t i = 0; i < count; ++i) groups.fetch_bounds(ids[compared[i]]);
    for (int64_t i = 0; i < count; ++i) {
      __builtin_prefetch(groups.at(ids[compared[i]]));
      __builtin_prefetch(values.at(compared[i]));
    }
    for (int64_t i = 0; i < count; ++i) {
      const int64_t row = compared[i], group = ids[row], length = values.length(row);
      const bool same = groups.length(group) == length && equal_bytes(groups.at(group), values.at(row), length);
      equal[row] = same;
      all &= same;
    }
  });
  return all;
}

bool compare_to_groups_text(at::Tensor& equal, const at::Tensor& ids, int64_t first_new, const at::Tensor& group_bytes,
                            const at::Tensor& group_begins, const at::Tensor& group_ends, const at::Tensor& row_bytes,
                            const at::Tensor& row_begins, const at::Tensor& row_ends) {
  return compare_texts(equal.mutable_data_ptr<bool>(), ids.const_data_ptr<int64_t>(), first_new, ids.numel(),
                       TextValues(group_bytes, group_begins, group_ends), TextValues(row_bytes, row_begins, row_ends));
}

}  // namespace

REGISTER_BODY(Cpu, "compare_to_groups", compare_to_groups);
REGISTER_BODY(Cpu, "compare_to_groups_text", compare_to_groups_text);

}  // namespace pistachio::kernels::cpu
