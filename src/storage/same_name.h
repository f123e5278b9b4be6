// Column names of files, compared without regard to the case of ASCII letters.
#pragma once

#include <strings.h>

#include <string_view>

namespace pistachio {

inline bool same_name(std::string_view left, std::string_view right) {
  return left.size() == right.size() && strncasecmp(left.data(), right.data(), left.size()) == 0;
}

}  // namespace pistachio
