// Aggregates over frames. Kernels walk over the frames of a whole piece of work: exact sums and counts by what enters and leaves a frame, the
// others by folds that need no inverse.
#pragma once

#include "exec/window/window_frames.h"

namespace pistachio {

// By place. Throws UserError.
Column aggregate_frames(const WindowCall& call, const WindowPlan::CallPlaces& places, const FrameRanges& frames, const OrderedWindow& window);

}  // namespace pistachio
