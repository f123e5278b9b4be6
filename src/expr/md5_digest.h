// MD5 (RFC 1321), as a checksum for comparison with other systems; not for security.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace pistachio {

class Md5Digest {
 public:
  // Adds a block of a multiple of 64 bytes.
  void add(std::string_view block);
  // Adds the rest of the text, of any length, and returns the digest of all input.
  std::array<uint8_t, 16> finish(std::string_view rest);

 private:
  std::array<uint32_t, 4> state_ = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  uint64_t bytes_ = 0;
};

}  // namespace pistachio
