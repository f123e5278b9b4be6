// Turns rows of bytes (plain_fixed_bytes_decode, or a dictionary of them) into values.
//   decimal_from_bytes  uint8 [n, width], big-endian two's complement -> int64 [n], or [n, 2] if wide. DataError: a value does not fit (its
//                       leading bytes are not all sign extension); its offset is the value's position in the given bytes
//   int96_to_micros     uint8 [n, 12], little-endian nanoseconds of the day (int64) and Julian day (int32) -> microseconds since 1970,
//                       int64 [n], rounded down. DataError: a time does not fit
//   float16_to_float    uint8 [n, 2], little-endian IEEE half precision -> float [n]
#pragma once

#include <ATen/core/Tensor.h>

namespace pistachio::kernels {

at::Tensor decimal_from_bytes(const at::Tensor& rows, bool wide);
at::Tensor int96_to_micros(const at::Tensor& rows);
at::Tensor float16_to_float(const at::Tensor& rows);

}  // namespace pistachio::kernels
