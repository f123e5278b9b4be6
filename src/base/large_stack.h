// Runs a function on a separate thread with a large stack and waits for it. For recursion as deep as the user's statement: libpg_query
// writes its tree recursively without a limit. The stack is only reserved; untouched pages cost nothing. Exceptions of the function are
// rethrown. Blocks the calling thread.
#pragma once

#include <cstdint>
#include <functional>

namespace pistachio {

void run_on_large_stack(int64_t stack_bytes, const std::function<void()>& work);

}  // namespace pistachio
