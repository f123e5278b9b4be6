// The frame of each row: which places its aggregate sees. With EXCLUDE it is not one range of places but two or three.
#pragma once

#include "exec/window/ordered_window.h"

namespace pistachio {

// int64 [parts, rows]: the places [begins, ends) of all parts; none where the end is not greater.
struct FrameRanges {
  at::Tensor begins;
  at::Tensor ends;
};

FrameRanges frames_of(const WindowCall& call, const WindowPlan::CallPlaces& places, bool descending, bool nulls_first,
                      const OrderedWindow& window);

// int64 [rows]: the number of places in each frame for which `counted` (bool [rows]) is true; undefined: all.
at::Tensor count_in_frames(const FrameRanges& frames, const at::Tensor& counted);

// int64 [rows + 1]: the number of true elements before each place.
at::Tensor counts_before(const at::Tensor& counted);
// The elements of `numbers` (int64 [n]) at these places, of any shape.
at::Tensor take_numbers(const at::Tensor& numbers, const at::Tensor& places);

}  // namespace pistachio
