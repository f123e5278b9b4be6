// lag, lead, first_value, last_value and nth_value: the value of another row. Values are not sorted: the rows that have them are found, and
// gathered once.
#pragma once

#include "exec/window/window_frames.h"

namespace pistachio {

// By place. Throws UserError. `frames` is not used for lag and lead.
Column value_of_neighbours(const WindowCall& call, const WindowPlan::CallPlaces& places, const OrderedWindow& window);
Column value_in_frames(const WindowCall& call, const WindowPlan::CallPlaces& places, const FrameRanges& frames, const OrderedWindow& window);

// The values of an expression at places (int64), NULL where `valid` (bool) is false; then the place is arbitrary.
Column values_at(int expression, const at::Tensor& places, const at::Tensor& valid, const OrderedWindow& window);
// The first place in each frame for which `counted` (bool [rows]) is true, and whether there is one.
struct FoundRows {
  at::Tensor places;
  at::Tensor valid;
};
FoundRows first_in_frames(const FrameRanges& frames, const at::Tensor& counted);

}  // namespace pistachio
