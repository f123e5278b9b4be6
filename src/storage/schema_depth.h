// Nesting depth of a footer's schema, checked before the footer is parsed: Arrow builds the schema tree recursively, and a file of a
// megabyte can nest deep enough to overflow the stack.
#pragma once

#include <cstdint>
#include <span>

namespace pistachio {

// Depth of nested groups, not counting the root. Stops at the first group deeper than `enough`. Throws MalformedThrift.
int64_t schema_depth(std::span<const uint8_t> footer, int64_t enough);

}  // namespace pistachio
