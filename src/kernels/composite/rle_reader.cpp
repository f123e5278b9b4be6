#include "kernels/composite/rle_reader.h"

#include "base/error.h"

namespace pistachio::kernels::composite {

uint64_t read_varint(const uint8_t* data, int64_t& position, int64_t end) {
  uint64_t value = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    if (position >= end) throw DataError("the page ends inside a number", {.offset = position});
    const uint64_t byte = data[position++];
    const uint64_t bits = byte & 127;
    if (shift == 63 && bits > 1) break;
    value |= bits << shift;
    if (byte < 128) return value;
  }
  throw DataError("a number of more than 64 bits", {.offset = position});
}

uint64_t read_bits(const uint8_t* data, int64_t begin, uint64_t first_bit, int64_t count, int64_t end) {
  uint64_t value = 0;
  for (int64_t bit = 0; bit < count; ++bit) {
    const uint64_t place = first_bit + static_cast<uint64_t>(bit);
    const int64_t byte = begin + static_cast<int64_t>(place / 8);
    if (byte >= end) throw DataError("the page ends inside its values", {.offset = end});
    value |= static_cast<uint64_t>((data[byte] >> (place % 8)) & 1) << bit;
  }
  return value;
}

void RleReader::start_run() {
  const uint64_t header = read_varint(data_, next_run_, end_);
  repeated_ = (header & 1) == 0;
  if (repeated_) {
    remaining_ = header >> 1;
    const int64_t value_bytes = (bit_width_ + 7) / 8;
    const uint64_t value = read_bits(data_, next_run_, 0, value_bytes * 8, end_);
    if (value >> bit_width_ != 0) throw DataError("a repeated value is wider than its bit width", {.offset = next_run_});
    repeated_value_ = static_cast<uint32_t>(value);
    next_run_ += value_bytes;
  } else {
    const uint64_t groups = header >> 1;
    if (groups > (uint64_t{1} << 40)) throw DataError("a bit-packed run of absurd length", {.offset = next_run_});
    remaining_ = groups * 8;
    packed_begin_ = next_run_;
    packed_read_ = 0;
    next_run_ += static_cast<int64_t>(groups) * bit_width_;
  }
}

bool RleReader::has_surplus() const {
  return bit_width_ > 0 && repeated_ && remaining_ >= 8;
}

uint32_t RleReader::next() {
  if (bit_width_ == 0) return 0;
  while (remaining_ == 0) start_run();
  --remaining_;
  if (repeated_) return repeated_value_;
  const uint64_t first_bit = packed_read_++ * static_cast<uint64_t>(bit_width_);
  return static_cast<uint32_t>(read_bits(data_, packed_begin_, first_bit, bit_width_, end_));
}

}  // namespace pistachio::kernels::composite
