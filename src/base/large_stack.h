// Runs a function on a thread of its own with a large stack, and waits for it. For work whose recursion is as deep as the user's text
// demands: libpg_query writes its tree by recursion without a limit. The stack is only reserved; pages that are not touched cost nothing.
// Exceptions of the function come out here. Any thread may call it; it blocks that thread.
#pragma once

#include <cstdint>
#include <functional>

namespace pistachio {

void run_on_large_stack(int64_t stack_bytes, const std::function<void()>& work);

}  // namespace pistachio
