// CPU bodies of decimal_from_bytes, int96_to_micros and float16_to_float: scalar loops.

#include <cstring>

#include "base/error.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/int128.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

namespace {

// Big-endian two's complement of 1..8 bytes.
int64_t signed_from_bytes(const uint8_t* bytes, int64_t width) {
  uint64_t word = 0;
  std::memcpy(reinterpret_cast<uint8_t*>(&word) + (8 - width), bytes, static_cast<size_t>(width));
  // After the byte swap the value is in the low bytes of the word; the shifts extend its sign.
  const int unused = static_cast<int>(8 * (8 - width));
  return static_cast<int64_t>(__builtin_bswap64(word) << unused) >> unused;
}

bool is_sign_extension(const uint8_t* bytes, int64_t extra) {
  const uint8_t sign = (bytes[extra] & 0x80) != 0 ? 0xff : 0;
  for (int64_t i = 0; i < extra; ++i) {
    if (bytes[i] != sign) return false;
  }
  return true;
}

// Start of the significant bytes of a row; the bytes before must be sign extension.
const uint8_t* significant_bytes(const uint8_t* row, int64_t width, int64_t kept, int64_t offset) {
  if (width <= kept) return row;
  if (!is_sign_extension(row, width - kept)) throw DataError("a decimal is too large for its type", {.offset = offset});
  return row + (width - kept);
}

at::Tensor decimal_from_bytes(const at::Tensor& rows, bool wide) {
  const int64_t count = rows.size(0), width = rows.size(1);
  const uint8_t* row = rows.const_data_ptr<uint8_t>();
  at::Tensor values = wide ? at::empty({count, 2}, at::kLong) : at::empty({count}, at::kLong);
  int64_t* out = values.mutable_data_ptr<int64_t>();
  const int64_t kept = std::min<int64_t>(width, wide ? 16 : 8);
  for (int64_t i = 0; i < count; ++i, row += width) {
    const uint8_t* bytes = significant_bytes(row, width, kept, i * width);
    if (!wide) {
      out[i] = signed_from_bytes(bytes, kept);
    } else if (kept <= 8) {
      out[2 * i] = signed_from_bytes(bytes, kept);
      out[2 * i + 1] = out[2 * i] >> 63;
    } else {
      out[2 * i] = signed_from_bytes(bytes + (kept - 8), 8);
      out[2 * i + 1] = signed_from_bytes(bytes, kept - 8);
    }
  }
  return values;
}

at::Tensor int96_to_micros(const at::Tensor& rows) {
  constexpr int64_t julian_day_of_1970 = 2440588;
  constexpr Int128 micros_of_a_day = 86400000000;
  const uint8_t* row = rows.const_data_ptr<uint8_t>();
  at::Tensor values = at::empty({rows.size(0)}, at::kLong);
  int64_t* out = values.mutable_data_ptr<int64_t>();
  for (int64_t i = 0; i < rows.size(0); ++i, row += 12) {
    int64_t nanos;
    int32_t day;
    std::memcpy(&nanos, row, 8);
    std::memcpy(&day, row + 8, 4);
    const int64_t micros = nanos / 1000 - (nanos % 1000 < 0);
    const Int128 since_1970 = (day - julian_day_of_1970) * micros_of_a_day + micros;
    out[i] = static_cast<int64_t>(since_1970);
    if (out[i] != since_1970) throw DataError("a timestamp lies outside the range of microseconds", {.offset = i * 12});
  }
  return values;
}

at::Tensor float16_to_float(const at::Tensor& rows) {
  const uint8_t* row = rows.const_data_ptr<uint8_t>();
  at::Tensor values = at::empty({rows.size(0)}, at::kFloat);
  float* out = values.mutable_data_ptr<float>();
  for (int64_t i = 0; i < rows.size(0); ++i, row += 2) {
    uint16_t bits;
    std::memcpy(&bits, row, 2);
    out[i] = static_cast<float>(c10::Half(bits, c10::Half::from_bits()));
  }
  return values;
}

}  // namespace

REGISTER_BODY(Cpu, "decimal_from_bytes", decimal_from_bytes);
REGISTER_BODY(Cpu, "int96_to_micros", int96_to_micros);
REGISTER_BODY(Cpu, "float16_to_float", float16_to_float);

}  // namespace pistachio::kernels::cpu
