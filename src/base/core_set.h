// Sets of CPU cores and the affinity of the calling thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pistachio {

// Numbers of cores, ascending.
using CoreSet = std::vector<int>;

// The cores that this thread may use; never empty.
CoreSet usable_cores();

// Restricts this thread, and threads it starts from now on, to the cores. False, without effect, if the kernel refuses.
bool bind_this_thread(const CoreSet& cores);

// "0-3,8"
std::string to_text(const CoreSet& cores);
// Empty if the text is malformed.
CoreSet core_set_of(std::string_view text);

}  // namespace pistachio
