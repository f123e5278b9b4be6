// Which cores threads may run on. Pure, apart from the two functions that ask and tell the kernel about the calling thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pistachio {

// Numbers of cores, ascending.
using CoreSet = std::vector<int>;

// Those that this thread may use; never empty.
CoreSet usable_cores();

// Holds this thread, and threads that it starts from now on, to the cores. False: the kernel refused, and nothing has changed.
bool bind_this_thread(const CoreSet& cores);

// "0-3,8"
std::string to_text(const CoreSet& cores);
// Nothing for text that is none.
CoreSet core_set_of(std::string_view text);

}  // namespace pistachio
