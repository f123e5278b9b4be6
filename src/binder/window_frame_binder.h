// Frames of window functions.
#pragma once

#include <functional>
#include <vector>

#include "base/cancel_token.h"
#include "logical/logical_node.h"
#include "parser/ast.h"

namespace pistachio {

// `order`: the window's keys; `bind_offset` binds an offset, which must be a constant. Throws UserError; `position` is that of the window.
WindowFrame bind_window_frame(const ast::WindowFrame& frame, const std::vector<SortKey>& order, int64_t position,
                              const std::function<ExpressionPtr(const ast::Expression&)>& bind_offset, const CancelToken& token);

}  // namespace pistachio
