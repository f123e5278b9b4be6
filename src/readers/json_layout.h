// How the records of a JSON file follow each other.
#pragma once

#include <cstdint>

namespace pistachio {

enum class JsonLayout : uint8_t {
  Lines,  // each on a line of its own
  Array,  // elements of one array
  Loose,  // separated by blanks
};

}  // namespace pistachio
