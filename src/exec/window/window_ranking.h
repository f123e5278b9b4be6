// row_number, rank, dense_rank, percent_rank, cume_dist and ntile.
#pragma once

#include "exec/window/ordered_window.h"

namespace pistachio {

// By place. Throws UserError.
Column rank_places(const WindowCall& call, const WindowPlan::CallPlaces& places, const OrderedWindow& window);

}  // namespace pistachio
