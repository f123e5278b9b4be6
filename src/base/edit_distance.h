// Levenshtein distance, for "did you mean".
#pragma once

#include <cstddef>
#include <string_view>

namespace pistachio {

size_t edit_distance(std::string_view left, std::string_view right);

}  // namespace pistachio
