// Byte counts for people: `4.0 GiB`, `512 B`. For error texts, logs and profiles. Pure function, any thread.
#pragma once

#include <cstdint>
#include <string>

namespace pistachio {

std::string format_bytes(int64_t bytes);

}  // namespace pistachio
