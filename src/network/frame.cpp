#include "network/frame.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "network/message_limits.h"

namespace pistachio {
namespace {

constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15;

uint64_t load_word(const uint8_t* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

uint64_t mix(uint64_t state, uint64_t word) {
  return std::rotl((state ^ word) * kMultiplier, 29);
}

std::string refuse_lengths(const FrameHeader& frame, uint64_t head_bytes, uint64_t piece_bytes) {
  if (frame.head_length != head_bytes || head_bytes > kLargestHead) {
    return fmt::format("it announces a head of {} bytes and has {}", frame.head_length, head_bytes);
  }
  if (frame.piece_length < 0 || static_cast<uint64_t>(frame.piece_length) != piece_bytes) {
    return fmt::format("it announces a piece of {} bytes and has {}", frame.piece_length, piece_bytes);
  }
  if (frame.payload_length < -1 || frame.payload_length > kLargestPayload) {
    return fmt::format("its payload has {} bytes, outside 0 to {}", frame.payload_length, kLargestPayload);
  }
  int64_t whole = frame.payload_length < 0 ? 0 : frame.payload_length;
  if (frame.piece_offset < 0 || frame.piece_offset > whole || frame.piece_length > whole - frame.piece_offset) {
    return fmt::format("a piece of {} bytes at {} lies outside its payload of {}", frame.piece_length, frame.piece_offset, whole);
  }
  if (frame.piece_length == 0 && whole > 0) return "a piece of a payload is empty";
  if (frame.piece_offset > 0 && head_bytes > 0) return "a later piece has a head";
  return "";
}

}  // namespace

std::variant<Frame, FrameRefusal> parse_frame(std::span<const uint8_t> header, uint64_t piece_length, const FrameExpectation& expected) {
  if (header.size() < sizeof(FrameHeader)) return FrameRefusal{fmt::format("a frame of {} bytes is too short", header.size())};
  Frame frame;
  std::memcpy(&frame.header, header.data(), sizeof(FrameHeader));
  const FrameHeader& fields = frame.header;
  if (fields.magic != kFrameMagic) return FrameRefusal{fmt::format("a frame begins with {:#x}: no Pistachio sent it", fields.magic)};
  if (fields.version != kProtocolVersion) {
    return FrameRefusal{fmt::format("a frame has protocol version {}, this program speaks {}", fields.version, kProtocolVersion)};
  }
  const auto ranks = static_cast<int>(expected.tags.size());
  if (fields.source < 0 || fields.source >= ranks || fields.source == expected.self) {
    return FrameRefusal{fmt::format("a frame claims to be from rank {} of {}", fields.source, ranks)};
  }
  if (fields.tag != expected.tags[static_cast<size_t>(fields.source)]) return FrameRefusal{"a frame comes from another job"};
  std::string wrong = refuse_lengths(fields, header.size() - sizeof(FrameHeader), piece_length);
  if (!wrong.empty()) return FrameRefusal{"a frame is damaged: " + wrong, fields.source, fields.incarnation};
  frame.head.assign(reinterpret_cast<const char*>(header.data()) + sizeof(FrameHeader), fields.head_length);
  return frame;
}

uint64_t frame_tag(const JobSecret& key, int from, int to) {
  return load_word(reinterpret_cast<const uint8_t*>(key.prove("frame", {std::to_string(from), std::to_string(to)}).data()));
}

std::string frame_bytes(const FrameHeader& header, const std::string& head) {
  std::string bytes(sizeof(FrameHeader) + head.size(), '\0');
  std::memcpy(bytes.data(), &header, sizeof(FrameHeader));
  std::memcpy(bytes.data() + sizeof(FrameHeader), head.data(), head.size());
  return bytes;
}

uint64_t payload_checksum(std::span<const uint8_t> bytes) {
  // Four independent chains keep the multiplier busy.
  uint64_t chains[4] = {kMultiplier, ~kMultiplier, kMultiplier >> 7, bytes.size()};
  size_t at = 0;
  for (; at + 32 <= bytes.size(); at += 32) {
    for (int chain = 0; chain < 4; ++chain) chains[chain] = mix(chains[chain], load_word(bytes.data() + at + 8 * chain));
  }
  for (; at + 8 <= bytes.size(); at += 8) chains[0] = mix(chains[0], load_word(bytes.data() + at));
  for (; at < bytes.size(); ++at) chains[1] = mix(chains[1], bytes[at]);
  uint64_t sum = 0;
  for (uint64_t chain : chains) sum = mix(sum, chain);
  sum ^= sum >> 32;
  return sum == 0 ? 1 : sum;
}

}  // namespace pistachio
