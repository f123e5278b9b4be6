// All calls of a window over one piece of work: rows of whole partitions.
#pragma once

#include "exec/window/window_plan.h"

namespace pistachio {

struct WindowResults {
  at::Tensor order;             // int64 [rows]: the rows in the order of the window
  std::vector<Column> columns;  // of each call, in that order
};

// At least one row. Throws UserError, and Cancelled soon after the token is cancelled.
WindowResults evaluate_window(const WindowPlan& plan, const Chunk& rows, const CancelToken& token);

}  // namespace pistachio
