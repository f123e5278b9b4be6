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
// Raise this with every change of FrameHeader or of what the layers above put into heads.
constexpr uint16_t kProtocolVersion = 4;

// As it lies in memory; all machines of a job have the same byte order (a swapped magic is refused).
struct FrameHeader {
  uint32_t magic = kFrameMagic;
  uint16_t version = kProtocolVersion;
  uint16_t kind = 0;
  uint64_t tag = 0;             // of the job, the sender and the receiver: keeps strangers and leftovers of other jobs out
  uint64_t message = 0;         // number of the message, by sender
  int64_t payload_length = -1;  // of the whole message; -1: it has none
  int64_t piece_offset = 0;     // large payloads travel in pieces
  int64_t piece_length = 0;
  uint64_t checksum = 0;  // of the piece, 0: not made
  int32_t source = 0;
  uint16_t head_length = 0;  // the head follows the header in the frame of the first piece
  uint16_t incarnation = 0;  // of the sender: RankInfo::incarnation
};
static_assert(sizeof(FrameHeader) == 64);

struct FrameExpectation {
  std::vector<uint64_t> tags;  // of frames from each rank
  int self = 0;
};

// What frames from one rank to another carry: nobody can guess it who does not have the key of the job.
uint64_t frame_tag(const JobSecret& key, int from, int to);

struct FrameRefusal {
  std::string why;
  // Known only if magic, version and tag were right, else -1: a stranger must not be able to blame a rank.
  int source = -1;
  int incarnation = 0;  // of the source
};

struct Frame {
  FrameHeader header;
  std::string head;
};

// `header` is what came in front, `piece_length` how many bytes of payload came or are announced with it.
std::variant<Frame, FrameRefusal> parse_frame(std::span<const uint8_t> header, uint64_t piece_length, const FrameExpectation& expected);

// The bytes of a header and a head behind it.
std::string frame_bytes(const FrameHeader& header, const std::string& head);

// A fast hash that notices changed, lost and swapped bytes; never 0. No protection against people.
uint64_t payload_checksum(std::span<const uint8_t> bytes);

}  // namespace pistachio
