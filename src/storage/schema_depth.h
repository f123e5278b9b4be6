// How deep the groups of a footer's schema are nested, looked at before the footer is parsed: Arrow builds the tree of a schema by
// recursion, and a file of a megabyte can nest deep enough to run out of stack.
#pragma once

#include <cstdint>
#include <span>

namespace pistachio {

// Groups inside groups, the root not counted. Stops at the first group that is deeper than `enough`. Throws MalformedThrift.
int64_t schema_depth(std::span<const uint8_t> footer, int64_t enough);

}  // namespace pistachio
