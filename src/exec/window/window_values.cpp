#include "exec/window/window_values.h"

#include "base/error.h"
#include "columns/concatenate_columns.h"
#include "columns/decode_dictionary.h"
#include "columns/row_selection.h"
#include "kernels/ops/compress.h"
#include "kernels/ops/gather_rows.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

// The places that count, numbered: all, or with IGNORE NULLS those with a value.
class CountedPlaces {
 public:
  // `counted`: bool [rows]; undefined: all.
  explicit CountedPlaces(const at::Tensor& counted) : counts_all_(!counted.defined()) {
    if (counts_all_) return;
    before_ = counts_before(counted);
    places_ = kernels::compress(at::arange(counted.numel(), before_.options()), counted);
  }

  // How many counted places are before each of these.
  at::Tensor numbers_before(const at::Tensor& places) const { return counts_all_ ? places : take_numbers(before_, places); }
  // The counted place with each number; arbitrary for numbers that do not exist.
  at::Tensor place_of(const at::Tensor& numbers) const {
    if (counts_all_) return numbers;
    if (places_.numel() == 0) return at::zeros_like(numbers);
    return take_numbers(places_, numbers.clamp(0, places_.numel() - 1));
  }

 private:
  bool counts_all_;
  at::Tensor before_;
  at::Tensor places_;
};

at::Tensor counted_rows(const WindowCall& call, int argument, const OrderedWindow& window) {
  const Column& values = window.values(argument);
  if (!call.ignore_nulls || !values.has_validity()) return {};
  return kernels::gather_rows(values.validity(), window.order());
}

// The places that are `offset` counted places away (int64: a number or one for each place).
FoundRows neighbours(const at::Tensor& offset, const CountedPlaces& counted, const OrderedWindow& window) {
  const at::Tensor& places = window.places();
  const at::Tensor ahead = counted.numbers_before(places + 1) + offset - 1;
  const at::Tensor number = at::where(offset.gt(0), ahead, counted.numbers_before(places) + offset);
  const Segments& partitions = window.partitions();
  at::Tensor valid = number.ge(counted.numbers_before(partitions.begins)).logical_and(number.lt(counted.numbers_before(partitions.ends)));
  // An offset of 0 is the row itself, also if it does not count.
  const at::Tensor is_own = offset.eq(0);
  return {at::where(is_own, places, counted.place_of(number)), valid.logical_or(is_own)};
}

// Fills in the value of the default where a row has no neighbour.
Column with_default(int value, int otherwise, const FoundRows& found, const OrderedWindow& window) {
  const Column both = concatenate_columns({decode_dictionary(window.values(value)), decode_dictionary(window.values(otherwise))}, window.token());
  const at::Tensor own = window.order() + window.rows();
  const at::Tensor places = found.places.clamp(0, window.rows() - 1);
  return take_rows(both, at::where(found.valid, kernels::gather_rows(window.order(), places), own));
}

at::Tensor frame_sizes(const FrameRanges& frames, const CountedPlaces& counted) {
  return (counted.numbers_before(frames.ends) - counted.numbers_before(frames.begins)).clamp_min(0);
}

// The counted place with this number in each frame, from 0.
FoundRows nth_in_frames(const FrameRanges& frames, at::Tensor number, const CountedPlaces& counted) {
  const at::Tensor sizes = frame_sizes(frames, counted);
  const at::Tensor begins = counted.numbers_before(frames.begins);
  FoundRows found{at::zeros_like(begins[0]), at::zeros_like(begins[0], begins.options().dtype(at::kBool))};
  for (int64_t part = 0; part < sizes.size(0); ++part) {
    const at::Tensor is_here = number.ge(0).logical_and(number.lt(sizes[part])).logical_and(found.valid.logical_not());
    found.places = at::where(is_here, counted.place_of(begins[part] + number), found.places);
    found.valid = found.valid.logical_or(is_here);
    number = number - sizes[part];
  }
  return found;
}

FoundRows last_in_frames(const FrameRanges& frames, const CountedPlaces& counted) {
  const at::Tensor last = frame_sizes(frames, counted).sum(0) - 1;
  return nth_in_frames(frames, last, counted);
}

}  // namespace

Column values_at(int expression, const at::Tensor& places, const at::Tensor& valid, const OrderedWindow& window) {
  const at::Tensor known = places.clamp(0, window.rows() - 1);
  const at::Tensor rows = kernels::gather_rows(window.order(), known).masked_fill(valid.logical_not(), -1);
  return take_rows_or_null(window.values(expression), rows, valid);
}

FoundRows first_in_frames(const FrameRanges& frames, const at::Tensor& counted) {
  const CountedPlaces places(counted);
  return nth_in_frames(frames, at::zeros({1}, frames.begins.options()), places);
}

Column value_of_neighbours(const WindowCall& call, const WindowPlan::CallPlaces& places, const OrderedWindow& window) {
  at::Tensor offset = at::ones({1}, window.places().options());
  at::Tensor has_offset;
  if (places.arguments.size() > 1) {
    const Column given = decode_dictionary(window.values_in_order(places.arguments[1]));
    // Larger ones lead out of the partition as well.
    offset = given.values().clamp(-window.rows(), window.rows());
    has_offset = given.validity();
  }
  if (call.kind == WindowKind::Lag) offset = offset.neg();
  const int value = places.arguments[0];
  FoundRows found = neighbours(offset, CountedPlaces(counted_rows(call, value, window)), window);
  if (places.arguments.size() < 3) {
    if (has_offset.defined()) found.valid = found.valid.logical_and(has_offset);
    return values_at(value, found.places, found.valid, window);
  }
  Column result = with_default(value, places.arguments[2], found, window);
  if (!has_offset.defined()) return result;
  // NULL for a NULL offset, whatever the default is.
  return take_rows_or_null(result, window.places().masked_fill(has_offset.logical_not(), -1), has_offset);
}

Column value_in_frames(const WindowCall& call, const WindowPlan::CallPlaces& places, const FrameRanges& frames, const OrderedWindow& window) {
  const int value = places.arguments[0];
  const CountedPlaces counted(counted_rows(call, value, window));
  FoundRows found;
  if (call.kind == WindowKind::LastValue) {
    found = last_in_frames(frames, counted);
  } else if (call.kind == WindowKind::FirstValue) {
    found = nth_in_frames(frames, at::zeros({1}, frames.begins.options()), counted);
  } else {
    const Column number = decode_dictionary(window.values_in_order(places.arguments[1]));
    at::Tensor wrong = number.values().le(0);
    if (number.has_validity()) wrong = wrong.logical_and(number.validity());
    if (kernels::count_true(wrong) > 0) throw UserError("nth_value counts rows from 1");
    found = nth_in_frames(frames, number.values() - 1, counted);
    if (number.has_validity()) found.valid = found.valid.logical_and(number.validity());
  }
  return values_at(value, found.places, found.valid, window);
}

}  // namespace pistachio
