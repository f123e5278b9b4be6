// Snappy decompression of one block, written for the short literals and copies that integer columns compress to, where the library in
// the Arrow wheel spends most of a scan. Trusts nothing: never reads outside `source` nor writes outside `target`, whatever the bytes say.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace pistachio {

// Fills `target` exactly; false when the block is malformed or holds another number of bytes.
bool snappy_decompress(std::span<const uint8_t> source, std::span<uint8_t> target);

}  // namespace pistachio
