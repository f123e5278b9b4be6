// Snappy decompression of one block, tuned for the short literals and copies of compressed integer columns, on which scans with the
// library in the Arrow wheel spend most of their time. Never reads outside `source` or writes outside `target`, even for malformed input.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace pistachio {

// Fills `target` exactly; false if the block is malformed or has a different length.
bool snappy_decompress(std::span<const uint8_t> source, std::span<uint8_t> target);

// Fills `target` with the first bytes of a block of `length` bytes, at least as many as `target` has; false if the block is malformed up to
// there or has a different length.
bool snappy_decompress_start(std::span<const uint8_t> source, size_t length, std::span<uint8_t> target);

}  // namespace pistachio
