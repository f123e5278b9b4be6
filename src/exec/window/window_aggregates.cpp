#include "exec/window/window_aggregates.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/error.h"
#include "columns/decode_dictionary.h"
#include "columns/order_words.h"
#include "columns/row_selection.h"
#include "exec/core/stoppable_call.h"
#include "exec/operators/aggregate_results.h"
#include "exec/window/window_values.h"
#include "kernels/ops/compress.h"
#include "kernels/ops/gather_rows.h"
#include "kernels/ops/range_bits.h"
#include "kernels/ops/range_distinct.h"
#include "kernels/ops/range_extreme.h"
#include "kernels/ops/range_moments.h"
#include "kernels/ops/range_sum.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

class FrameAggregate {
 public:
  FrameAggregate(const WindowCall& call, const WindowPlan::CallPlaces& places, const FrameRanges& frames, const OrderedWindow& window)
      : call_(call), argument_(places.arguments.empty() ? -1 : places.arguments[0]), frames_(frames), window_(window) {
    at::Tensor counted;
    if (places.filter >= 0) {
      const Column filter = decode_dictionary(window.values(places.filter));
      counted = filter.has_validity() ? filter.values().logical_and(filter.validity()) : filter.values();
    }
    if (argument_ >= 0) counted = both_valid(counted, window.values(argument_).validity());
    if (counted.defined()) counted_ = kernels::gather_rows(counted.contiguous(), window.order());
  }

  Column compute() const {
    switch (call_.aggregate->kind) {
      case AggregateKind::CountRows: return bigints(counts());
      case AggregateKind::Count: return bigints(call_.distinct ? distinct_values() : counts());
      case AggregateKind::ApproxCountDistinct: return bigints(distinct_values());
      case AggregateKind::Sum:
      case AggregateKind::Average: return window_.values(argument_).type().is_floating() ? floating_sum() : exact_sum();
      case AggregateKind::Min:
      case AggregateKind::BoolAnd: return extreme(false);
      case AggregateKind::Max:
      case AggregateKind::BoolOr: return extreme(true);
      case AggregateKind::VarianceSample:
      case AggregateKind::VariancePopulation:
      case AggregateKind::StddevSample:
      case AggregateKind::StddevPopulation: return moments();
      case AggregateKind::AnyValue: return any_value();
      case AggregateKind::BitAnd: return bits(kernels::BitOp::And);
      case AggregateKind::BitOr: return bits(kernels::BitOp::Or);
      case AggregateKind::BitXor: return bits(kernels::BitOp::Xor);
      case AggregateKind::Ordered:         // the optimizer lowers it
      case AggregateKind::CountIf: break;  // the binder makes it a count
    }
    fail_check(__FILE__, __LINE__, "unknown aggregate");
  }

 private:
  static Column bigints(at::Tensor values) { return Column::fixed(TypeKind::BigInt, std::move(values)); }

  template <typename Body>
  auto stoppable(const Body& body) const {
    return call_stoppable(window_.token(), body);
  }

  at::Tensor counts() const { return count_in_frames(frames_, counted_); }
  // Greater than 0 where the frame has a row that counts.
  at::Tensor counts_or_any() const {
    const bool is_plain = frames_.begins.size(0) == 1 && !counted_.defined();
    return is_plain ? frames_.ends[0].gt(frames_.begins[0]) : counts();
  }

  at::Tensor numbers_in_order() const {
    return kernels::gather_rows(decode_dictionary(window_.values(argument_)).values(), window_.order());
  }

  Column exact_sum() const {
    const at::Tensor sums = stoppable([&](const at::Tensor& stop) {
      return kernels::range_sum(numbers_in_order(), counted_, frames_.begins, frames_.ends, stop);
    });
    return exact_sum_result(call_.aggregate->kind, window_.values(argument_).type(), call_.type, sums,
                            call_.aggregate->kind == AggregateKind::Average ? counts() : counts_or_any());
  }

  Column floating_sum() const {
    const at::Tensor numbers = numbers_in_order();
    const at::Tensor sums = stoppable([&](const at::Tensor& stop) {
      return kernels::range_sum_float(numbers, counted_, frames_.begins, frames_.ends, stop);
    });
    check_overflow(sums, numbers, "sum");
    return floating_sum_result(call_.aggregate->kind, sums, counts());
  }

  Column moments() const {
    const at::Tensor numbers = numbers_in_order();
    const at::Tensor moments = stoppable([&](const at::Tensor& stop) {
      return kernels::range_moments(numbers, counted_, frames_.begins, frames_.ends, stop);
    });
    check_overflow(moments.sum(1), numbers, "variance");
    return moment_result(call_.aggregate->kind, moments);
  }

  // A result that is not finite although all numbers of its frame are is an error.
  void check_overflow(const at::Tensor& results, const at::Tensor& numbers, const char* what) const {
    const at::Tensor not_finite = results.isfinite().logical_not();
    if (kernels::count_true(not_finite) == 0) return;
    at::Tensor causes = numbers.isfinite().logical_not();
    if (counted_.defined()) causes = causes.logical_and(counted_);
    const at::Tensor overflowed = not_finite.logical_and(count_in_frames(frames_, causes).eq(0));
    if (kernels::count_true(overflowed) > 0) throw UserError(fmt::format("{} out of range", what));
  }

  Column extreme(bool take_max) const {
    const at::Tensor words = kernels::gather_rows(word_of_values(), window_.order());
    const at::Tensor best = stoppable([&](const at::Tensor& stop) {
      return kernels::range_extreme(words, counted_, frames_.begins, frames_.ends, take_max, stop);
    });
    return values_at(argument_, best, best.ge(0), window_);
  }

  // One word in the order of the values. Intervals of equal length may differ, so that their fields count, too.
  at::Tensor word_of_values() const {
    const Column& values = window_.values(argument_);
    if (values.type().kind() == TypeKind::Interval) return ranks_of_intervals(decode_dictionary(values));
    const std::vector<at::Tensor> words = order_words(values);
    return words.size() == 1 ? words[0] : dense_ranks(values, window_.token());
  }

  at::Tensor ranks_of_intervals(const Column& intervals) const {
    std::vector<at::Tensor> words = order_words(intervals);
    words.push_back(intervals.values().select(1, 1).contiguous());
    words.push_back(intervals.values().select(1, 0).contiguous());
    return ranks_of_words(words, window_.token());
  }

  Column any_value() const {
    const FoundRows found = first_in_frames(frames_, counted_);
    return values_at(argument_, found.places, found.valid, window_);
  }

  Column bits(kernels::BitOp op) const {
    const at::Tensor numbers = numbers_in_order();
    const at::Tensor made = stoppable([&](const at::Tensor& stop) {
      return kernels::range_bits(numbers.to(at::kLong), counted_, frames_.begins, frames_.ends, op, stop);
    });
    return Column::fixed(call_.type, made.to(numbers.scalar_type()), counts_or_any().gt(0));
  }

  // Exact, whichever function asks.
  at::Tensor distinct_values() const {
    const at::Tensor ids = kernels::gather_rows(dense_ranks(window_.values(argument_), window_.token()), window_.order());
    const int64_t values = ids.max().item<int64_t>() + 1;
    return stoppable([&](const at::Tensor& stop) {
      return kernels::range_distinct(ids, counted_, frames_.begins, frames_.ends, values, stop);
    });
  }

  const WindowCall& call_;
  const int argument_;  // -1: count(*)
  const FrameRanges& frames_;
  const OrderedWindow& window_;
  at::Tensor counted_;  // bool [rows]: the places that count; undefined: all
};

}  // namespace

Column aggregate_frames(const WindowCall& call, const WindowPlan::CallPlaces& places, const FrameRanges& frames, const OrderedWindow& window) {
  return FrameAggregate(call, places, frames, window).compute();
}

}  // namespace pistachio
