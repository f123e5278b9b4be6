// CPU bodies of segment_count, segment_sum and segment_sum_float. NULLs add zero instead of branching. Sums of 64-bit integers stay in 64
// bits while they fit and spill to the 128-bit state when the next value would overflow.
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <bit>
#include <type_traits>

#include "base/error.h"
#include "kernels/cpu/segment_copies.h"
#include "kernels/cpu/value_kind_of.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/int128.h"

namespace pistachio::kernels::cpu {

namespace {

// Whether a row is valid; for columns without NULLs the compiler removes the check.
struct AllValid {
  constexpr bool operator()(int64_t) const { return true; }
};
struct MaskValid {
  const bool* mask;
  bool operator()(int64_t row) const { return mask[row]; }
};

template <typename Run>
void with_validity(const std::optional<at::Tensor>& validity, const Run& run) {
  if (validity) {
    run(MaskValid{validity->const_data_ptr<bool>()});
  } else {
    run(AllValid{});
  }
}

template <typename Valid>
void count_rows(int64_t* counts, int64_t groups, const int64_t* ids, int64_t rows, const Valid& valid) {
  if (!SegmentCopies<int64_t>::pays(groups, rows)) {
    for (int64_t row = 0; row < rows; ++row) counts[ids[row]] += valid(row);
    return;
  }
  SegmentCopies<int64_t> copies(groups);
  for_rows_in_turn(rows, [&](int64_t row, int64_t copy) { copies.of(copy)[ids[row]] += valid(row); });
  copies.add_up([&](int64_t group, int64_t count) { counts[group] += count; });
}

void add_to_state(int64_t* sum_words, Int128 addend) {
  const Int128 sum =
      static_cast<Int128>(static_cast<UInt128>(int128_from_words(sum_words[0], sum_words[1])) + static_cast<UInt128>(addend));
  sum_words[0] = low_word(sum);
  sum_words[1] = high_word(sum);
}

template <typename T, typename Valid>
void sum_rows_in_copies(int64_t* sums, int64_t groups, const int64_t* ids, const T* values, int64_t rows, const Valid& valid) {
  SegmentCopies<int64_t> copies(groups);
  for_rows_in_turn(rows, [&](int64_t row, int64_t copy) {
    const int64_t value = valid(row) ? static_cast<int64_t>(values[row]) : 0;
    int64_t& accumulator = copies.of(copy)[ids[row]];
    if constexpr (sizeof(T) < 8) {
      accumulator += value;
    } else {
      int64_t sum;
      if (__builtin_add_overflow(accumulator, value, &sum)) [[unlikely]] {
        add_to_state(sums + 2 * ids[row], accumulator);
        sum = value;
      }
      accumulator = sum;
    }
  });
  copies.add_up([&](int64_t group, int64_t sum) { add_to_state(sums + 2 * group, sum); });
}

template <typename T, typename Valid>
void sum_rows(int64_t* sums, int64_t groups, const int64_t* ids, const T* values, int64_t rows, const Valid& valid) {
  // 64-bit accumulators cannot overflow with fewer than 2^32 values of 32 bits.
  if (SegmentCopies<int64_t>::pays(groups, rows) && rows < (int64_t{1} << 32)) {
    return sum_rows_in_copies(sums, groups, ids, values, rows, valid);
  }
  for (int64_t row = 0; row < rows; ++row) add_to_state(sums + 2 * ids[row], valid(row) ? static_cast<int64_t>(values[row]) : 0);
}

template <typename Valid>
void sum_wide_rows(int64_t* sums, const int64_t* ids, const int64_t* words, int64_t rows, const Valid& valid) {
  for (int64_t row = 0; row < rows; ++row) {
    if (!valid(row)) continue;
    int64_t* sum_words = sums + 2 * ids[row];
    Int128 sum = int128_from_words(sum_words[0], sum_words[1]);
    if (__builtin_add_overflow(sum, int128_from_words(words[2 * row], words[2 * row + 1]), &sum)) throw UserError("sum is out of range");
    sum_words[0] = low_word(sum);
    sum_words[1] = high_word(sum);
  }
}

template <typename T, typename Valid>
void sum_float_rows(double* sums, int64_t groups, const int64_t* ids, const T* values, int64_t rows, const Valid& valid) {
  const auto addend = [&](int64_t row) {
    // Masked as bits: the value under a NULL may be anything, NaN included, and a branch would be mispredicted.
    const double value = static_cast<double>(values[row]);
    return std::bit_cast<double>(std::bit_cast<int64_t>(value) & -int64_t{valid(row)});
  };
  if (!SegmentCopies<double>::pays(groups, rows)) {
    for (int64_t row = 0; row < rows; ++row) sums[ids[row]] += addend(row);
    return;
  }
  SegmentCopies<double> copies(groups);
  for_rows_in_turn(rows, [&](int64_t row, int64_t copy) { copies.of(copy)[ids[row]] += addend(row); });
  copies.add_up([&](int64_t group, double sum) { sums[group] += sum; });
}

void segment_count(at::Tensor& counts, const at::Tensor& ids, const std::optional<at::Tensor>& validity) {
  with_validity(validity, [&](const auto& valid) {
    count_rows(counts.mutable_data_ptr<int64_t>(), counts.size(0), ids.const_data_ptr<int64_t>(), ids.numel(), valid);
  });
}

void segment_sum(at::Tensor& sums, const at::Tensor& ids, const at::Tensor& values, const std::optional<at::Tensor>& validity,
                 bool /*fit*/) {
  int64_t* state = sums.mutable_data_ptr<int64_t>();
  const int64_t* groups = ids.const_data_ptr<int64_t>();
  with_validity(validity, [&](const auto& valid) {
    if (is_wide(values)) return sum_wide_rows(state, groups, values.const_data_ptr<int64_t>(), ids.numel(), valid);
    with_type(value_kind_of(values), [&](auto type) {
      using T = decltype(type);
      if constexpr (std::is_integral_v<T>) {
        sum_rows(state, sums.size(0), groups, static_cast<const T*>(values.const_data_ptr()), ids.numel(), valid);
      }
    });
  });
}

void segment_sum_float(at::Tensor& sums, const at::Tensor& ids, const at::Tensor& values, const std::optional<at::Tensor>& validity) {
  double* state = sums.mutable_data_ptr<double>();
  const int64_t* groups = ids.const_data_ptr<int64_t>();
  with_validity(validity, [&](const auto& valid) {
    if (values.scalar_type() == at::kFloat) {
      sum_float_rows(state, sums.size(0), groups, values.const_data_ptr<float>(), ids.numel(), valid);
    } else {
      sum_float_rows(state, sums.size(0), groups, values.const_data_ptr<double>(), ids.numel(), valid);
    }
  });
}

}  // namespace

REGISTER_BODY(Cpu, "segment_count", segment_count);
REGISTER_BODY(Cpu, "segment_sum", segment_sum);
REGISTER_BODY(Cpu, "segment_sum_float", segment_sum_float);

}  // namespace pistachio::kernels::cpu
