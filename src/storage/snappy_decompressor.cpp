#include "storage/snappy_decompressor.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace pistachio {

namespace {

// Decoded tag byte: length of the literal or copy, bytes of offset that follow, and the high bits of a short copy's offset.
struct Tag {
  uint8_t length;
  uint8_t offset_bytes;
  uint16_t offset_high;
};

constexpr std::array<Tag, 256> make_tags() {
  std::array<Tag, 256> tags{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    unsigned kind = byte & 3;
    Tag tag{static_cast<uint8_t>((byte >> 2) + 1), static_cast<uint8_t>(kind == 3 ? 4 : kind), 0};
    if (kind == 1) tag = {static_cast<uint8_t>(4 + ((byte >> 2) & 7)), 1, static_cast<uint16_t>((byte >> 5) << 8)};
    tags[byte] = tag;
  }
  return tags;
}

constexpr std::array<Tag, 256> kTags = make_tags();
constexpr std::array<uint32_t, 4> kOffsetMasks = {0, 0xff, 0xffff, 0xffffffff};  // by kind of tag

// The fast loop may write this far past the end of an element, and read this far past its start.
constexpr int64_t kSlack = 64;

uint32_t load_32(const uint8_t* from) {
  uint32_t value = 0;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

template <int Bytes>
void copy_block(uint8_t* to, const uint8_t* from) {
  uint8_t block[Bytes];
  std::memcpy(block, from, Bytes);
  std::memcpy(to, block, Bytes);
}

// A copy from less than 8 bytes back: repeats the last `offset` bytes. Writes at most 8 bytes past the end.
void repeat_pattern(uint8_t* to, int64_t offset, int64_t length) {
  uint8_t* end = to + length;
  // Each copy of `distance` bytes doubles the repeated part, until 8 bytes can be copied at a time.
  int64_t distance = offset;
  while (distance < 8 && to < end) {
    for (int64_t i = 0; i < distance; ++i) to[i] = to[i - distance];
    to += distance;
    distance *= 2;
  }
  for (; to < end; to += 8) copy_block<8>(to, to - distance);
}

// Copies `length` bytes (at most 64) from `offset` back, where kSlack bytes may be written past the end.
void copy_back(uint8_t* to, int64_t offset, int64_t length) {
  const uint8_t* from = to - offset;
  if (offset >= 16 || offset >= length) [[likely]] {
    copy_block<16>(to, from);
    for (int64_t done = 16; done < length; done += 16) copy_block<16>(to + done, from + done);
  } else if (offset >= 8) {
    copy_block<8>(to, from);
    for (int64_t done = 8; done < length; done += 8) copy_block<8>(to + done, from + done);
  } else {
    repeat_pattern(to, offset, length);
  }
}

struct Cursor {
  const uint8_t* in;
  const uint8_t* in_end;
  uint8_t* out;
  uint8_t* out_begin;
  uint8_t* out_end;

  // Length of a literal whose tag says that the length follows in 1 to 4 bytes.
  bool read_long_length(int64_t bytes, int64_t& length) {
    if (in_end - in < bytes) return false;
    uint32_t value = 0;
    for (int64_t i = 0; i < bytes; ++i) value |= static_cast<uint32_t>(in[i]) << (8 * i);
    in += bytes;
    length = int64_t{value} + 1;
    return true;
  }

  bool copy_literal(int64_t length) {
    if (length > in_end - in || length > out_end - out) return false;
    std::memcpy(out, in, static_cast<size_t>(length));
    in += length;
    out += length;
    return true;
  }
};

// As long as both buffers have slack: fixed-size block copies, few branches. The critical path is the dependency chain from one tag to the
// next (load, length, next load), so the position of the next tag is computed arithmetically; table lookups stay off that chain.
bool run_fast(Cursor& cursor) {
  const uint8_t* in = cursor.in;
  uint8_t* out = cursor.out;
  const uint8_t* in_safe = cursor.in_end - kSlack - 8;
  uint8_t* out_safe = cursor.out_end - kSlack - 16;
  while (in < in_safe && out < out_safe) {
    const uint32_t byte = *in;
    const uint32_t kind = byte & 3;
    if (kind == 0) {
      int64_t length = (byte >> 2) + 1;
      in += 1;
      copy_block<16>(out, in);
      if (length > 16) [[unlikely]] {
        if (length > 60) {
          cursor.in = in;
          cursor.out = out;
          if (!cursor.read_long_length(length - 60, length) || !cursor.copy_literal(length)) return false;
          in = cursor.in;
          out = cursor.out;
          continue;
        }
        copy_block<16>(out + 16, in + 16);
        copy_block<32>(out + 32, in + 32);
      }
      in += length;
      out += length;
      continue;
    }
    const uint32_t raw = load_32(in + 1);
    in += 1 + kind;
    if (kind == 3) [[unlikely]]
      in += 1;
    const Tag tag = kTags[byte];
    const int64_t length = tag.length;
    const int64_t offset = (raw & kOffsetMasks[kind]) | tag.offset_high;
    if (offset == 0 || offset > out - cursor.out_begin) [[unlikely]]
      return false;
    copy_back(out, offset, length);
    out += length;
  }
  cursor.in = in;
  cursor.out = out;
  return true;
}

// Near the ends of the buffers: every byte is checked. With `may_end_early`, only until the output is full.
bool run_carefully(Cursor& cursor, bool may_end_early) {
  while (cursor.in < cursor.in_end && !(may_end_early && cursor.out == cursor.out_end)) {
    const uint8_t byte = *cursor.in++;
    const Tag tag = kTags[byte];
    int64_t length = tag.length;
    if ((byte & 3) == 0) {
      if (length > 60 && !cursor.read_long_length(length - 60, length)) return false;
      if (may_end_early) length = std::min(length, cursor.out_end - cursor.out);
      if (!cursor.copy_literal(length)) return false;
      continue;
    }
    if (cursor.in_end - cursor.in < tag.offset_bytes) return false;
    int64_t offset = tag.offset_high;
    for (int i = 0; i < tag.offset_bytes; ++i) offset |= int64_t{cursor.in[i]} << (8 * i);
    cursor.in += tag.offset_bytes;
    if (may_end_early) length = std::min(length, cursor.out_end - cursor.out);
    if (offset == 0 || offset > cursor.out - cursor.out_begin || length > cursor.out_end - cursor.out) return false;
    for (int64_t i = 0; i < length; ++i) cursor.out[i] = cursor.out[i - offset];
    cursor.out += length;
  }
  return cursor.out == cursor.out_end;
}

// The block starts with its uncompressed length as a varint of at most five bytes. Nullopt unless that is `length`.
std::optional<Cursor> start_block(std::span<const uint8_t> source, size_t length, std::span<uint8_t> target) {
  uint64_t stored = 0;
  size_t position = 0;
  for (int shift = 0;; shift += 7) {
    if (position >= source.size() || shift > 28) return std::nullopt;
    uint8_t byte = source[position++];
    stored |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) break;
  }
  if (stored != length) return std::nullopt;
  return Cursor{source.data() + position, source.data() + source.size(), target.data(), target.data(), target.data() + target.size()};
}

}  // namespace

bool snappy_decompress(std::span<const uint8_t> source, std::span<uint8_t> target) {
  std::optional<Cursor> started = start_block(source, target.size(), target);
  if (!started) return false;
  Cursor& cursor = *started;
  int64_t in_bytes = cursor.in_end - cursor.in;
  if (in_bytes > kSlack + 8 && static_cast<int64_t>(target.size()) > kSlack + 16 && !run_fast(cursor)) return false;
  return run_carefully(cursor, false);
}

bool snappy_decompress_start(std::span<const uint8_t> source, size_t length, std::span<uint8_t> target) {
  std::optional<Cursor> cursor = start_block(source, length, target);
  return cursor && run_carefully(*cursor, true);
}

}  // namespace pistachio
