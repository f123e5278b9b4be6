// Human-readable byte counts for error texts, logs and profiles: `4.0 GiB`, `512 B`.
#pragma once

#include <cstdint>
#include <string>

namespace pistachio {

std::string format_bytes(int64_t bytes);

}  // namespace pistachio
