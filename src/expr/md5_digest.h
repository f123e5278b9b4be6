// MD5 (RFC 1321). A checksum for comparing with other systems, no protection.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace pistachio {

std::array<uint8_t, 16> md5_digest(std::string_view text);

}  // namespace pistachio
