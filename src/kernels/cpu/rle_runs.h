// Splits a stream of Parquet's RLE/bit-packed hybrid into runs and checks each against the end of its page. One branch-light pass over the
// run headers; callers unpack or fill whole runs. Raw memory, no ownership, one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace pistachio::kernels::cpu {

enum class RleProblem { None, EndsEarly, NumberTooLong, ValueTooWide, RunTooLong, Surplus };

struct RleRun {
  int64_t count = 0;                // values; for a truncated bit-packed run, the complete ones
  const uint8_t* packed = nullptr;  // bytes of a bit-packed run; null for a repeated run
  int64_t packed_bytes = 0;         // readable bytes from `packed` to the end of the page, which may exceed the run
  uint32_t value = 0;               // repeated run
};

// Reads an LEB128 number and advances `position` past it.
inline RleProblem read_varint(const uint8_t*& position, const uint8_t* end, uint64_t& value) {
  value = 0;
  for (int shift = 0; shift <= 63; shift += 7) {
    if (position == end) return RleProblem::EndsEarly;
    const uint64_t byte = *position++;
    value |= (byte & 127) << shift;
    if (shift == 63 && (byte & 127) > 1) return RleProblem::NumberTooLong;
    if (byte < 128) return RleProblem::None;
  }
  return RleProblem::NumberTooLong;
}

class RleRunReader {
 public:
  RleRunReader(const uint8_t* begin, const uint8_t* end, int bit_width) : position_(begin), end_(end), bit_width_(bit_width) {}

  const uint8_t* position() const { return position_; }

  // The next run, possibly empty. bit_width must not be 0.
  RleProblem next(RleRun& run) {
    uint64_t header;
    if (const RleProblem problem = read_varint(position_, end_, header); problem != RleProblem::None) return problem;
    if ((header & 1) != 0) {
      const uint64_t groups = header >> 1;
      if (groups > max_groups) return RleProblem::RunTooLong;
      const int64_t run_bytes = static_cast<int64_t>(groups) * bit_width_;
      run.packed = position_;
      run.packed_bytes = end_ - position_;
      run.count = static_cast<int64_t>(groups) * 8;
      if (run_bytes <= run.packed_bytes) {
        position_ += run_bytes;
      } else {
        run.count = run.packed_bytes * 8 / bit_width_;
        position_ = end_;
      }
      return RleProblem::None;
    }
    run.packed = nullptr;
    run.count = static_cast<int64_t>(header >> 1);
    const int value_bytes = (bit_width_ + 7) / 8;
    if (end_ - position_ < value_bytes) return RleProblem::EndsEarly;
    run.value = 0;
    std::memcpy(&run.value, position_, static_cast<size_t>(value_bytes));  // little-endian machines only, as everywhere in this folder
    position_ += value_bytes;
    return static_cast<uint64_t>(run.value) >> bit_width_ == 0 ? RleProblem::None : RleProblem::ValueTooWide;
  }

 private:
  static constexpr uint64_t max_groups = uint64_t{1} << 40;

  const uint8_t* position_;
  const uint8_t* end_;
  int bit_width_;
};

}  // namespace pistachio::kernels::cpu
