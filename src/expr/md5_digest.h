// MD5 (RFC 1321), as a checksum for comparison with other systems; not for security.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace pistachio {

std::array<uint8_t, 16> md5_digest(std::string_view text);

}  // namespace pistachio
