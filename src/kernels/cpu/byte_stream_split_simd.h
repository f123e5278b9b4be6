// The inner loop of byte_stream_split_decode, on raw memory.
#pragma once

#include <cstdint>

namespace pistachio::kernels::cpu {

// Value i consists of bytes streams[i], streams[i + stride], ...; writes `count` values of `width` bytes back to back.
void join_byte_streams(const uint8_t* streams, int64_t stride, int64_t width, int64_t count, uint8_t* out);

}  // namespace pistachio::kernels::cpu
