// Frame header in front of every piece of a message, and its validation: no field of a received frame is used before parse_frame() has accepted it.
// Pure functions, thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "network/job_secret.h"

namespace pistachio {

constexpr uint32_t kFrameMagic = 0x50495354;  // "PIST"
// Increment with every change of FrameHeader or of the layers' message heads.
constexpr uint16_t kProtocolVersion = 4;

// In native layout; all machines of a job have the same byte order (a swapped magic is rejected).
struct FrameHeader {
  uint32_t magic = kFrameMagic;
  uint16_t version = kProtocolVersion;
  uint16_t kind = 0;
  uint64_t tag = 0;             // of job, sender and receiver: rejects strangers and leftovers of other jobs
  uint64_t message = 0;         // message number of the sender
  int64_t payload_length = -1;  // of the whole message; -1: no payload
  int64_t piece_offset = 0;     // large payloads are sent in pieces
  int64_t piece_length = 0;
  uint64_t checksum = 0;  // of the piece; 0: none
  int32_t source = 0;
  uint16_t head_length = 0;  // the head follows the header in the first frame of a message
  uint16_t incarnation = 0;  // of the sender: RankInfo::incarnation
};
static_assert(sizeof(FrameHeader) == 64);

struct FrameExpectation {
  std::vector<uint64_t> tags;  // of frames from each rank
  int self = 0;
};

// The tag of frames from one rank to another: unguessable without the job's key.
uint64_t frame_tag(const JobSecret& key, int from, int to);

struct FrameRefusal {
  std::string why;
  // Known only if magic, version and tag are right, else -1: a stranger must not be able to blame a rank.
  int source = -1;
  int incarnation = 0;  // of the source
};

struct Frame {
  FrameHeader header;
  std::string head;
};

// `header` is the received header, `piece_length` the bytes of payload that came or are announced with it.
std::variant<Frame, FrameRefusal> parse_frame(std::span<const uint8_t> header, uint64_t piece_length, const FrameExpectation& expected);

// Serializes a header followed by a head.
std::string frame_bytes(const FrameHeader& header, const std::string& head);

// A fast hash that detects changed, lost and swapped bytes; never 0. Not cryptographic.
uint64_t payload_checksum(std::span<const uint8_t> bytes);

}  // namespace pistachio
