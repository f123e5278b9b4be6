// Reference reader of Parquet's RLE/bit-packed hybrid: one value at a time, one bit at a time. Deliberately slow and simple; shares no code
// with the tuned decoders. Reads CPU memory; used on one thread.
#pragma once

#include <cstdint>

namespace pistachio::kernels::composite {

class RleReader {
 public:
  // Reads data[begin, end); offsets in errors are relative to `data`.
  RleReader(const uint8_t* data, int64_t begin, int64_t end, int64_t bit_width)
      : data_(data), next_run_(begin), end_(end), bit_width_(bit_width) {}

  // The next value; throws DataError at the end of the stream.
  uint32_t next();
  // Whether the current run is a repeated one with 8 or more values left.
  bool has_surplus() const;
  int64_t position() const { return next_run_; }

 private:
  void start_run();

  const uint8_t* data_;
  int64_t next_run_;  // offset of the next run's header; past end_ if the current run is truncated
  int64_t end_;
  int64_t bit_width_;
  bool repeated_ = false;
  uint64_t remaining_ = 0;  // values of the current run not read yet
  uint32_t repeated_value_ = 0;
  int64_t packed_begin_ = 0;
  uint64_t packed_read_ = 0;
};

// Reads an LEB128 number at data[position] and advances `position` past it. Throws DataError past `end` or beyond 64 bits.
uint64_t read_varint(const uint8_t* data, int64_t& position, int64_t end);

// `count` bits starting at bit `first_bit` after data[begin], lowest first. Throws DataError if they cross `end`.
uint64_t read_bits(const uint8_t* data, int64_t begin, uint64_t first_bit, int64_t count, int64_t end);

}  // namespace pistachio::kernels::composite
