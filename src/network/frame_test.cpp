#include "network/frame.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "network/message_limits.h"

namespace pistachio {
namespace {

const FrameExpectation kExpected{.tags = {76, 0, 77, 78}, .self = 1};

FrameHeader good_header() {
  FrameHeader header;
  header.tag = 77;
  header.kind = 5;
  header.source = 2;
  header.payload_length = 1000;
  header.piece_length = 600;
  header.head_length = 4;
  return header;
}

std::variant<Frame, FrameRefusal> parse(const FrameHeader& header, const std::string& head = "head", uint64_t piece = 600) {
  std::string bytes = frame_bytes(header, head);
  return parse_frame({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, piece, kExpected);
}

FrameRefusal refusal_of(const std::variant<Frame, FrameRefusal>& answer) {
  if (const auto* refusal = std::get_if<FrameRefusal>(&answer)) return *refusal;
  return {"accepted"};
}

TEST(FrameTest, HeaderRoundTrips) {
  auto answer = parse(good_header());
  ASSERT_TRUE(std::holds_alternative<Frame>(answer)) << refusal_of(answer).why;
  EXPECT_EQ(std::get<Frame>(answer).head, "head");
  EXPECT_EQ(std::get<Frame>(answer).header.kind, 5);
  EXPECT_EQ(std::get<Frame>(answer).header.payload_length, 1000);
}

TEST(FrameTest, DamagedFrameReportsItsIncarnation) {
  FrameHeader header = good_header();
  header.incarnation = 3;
  header.piece_length = -1;
  FrameRefusal refusal = refusal_of(parse(header));
  EXPECT_EQ(refusal.source, 2);
  EXPECT_EQ(refusal.incarnation, 3);
}

TEST(FrameTest, StrangersAreRejectedWithoutBlame) {
  std::vector<std::pair<std::string, FrameHeader>> cases(4, {"", good_header()});
  cases[0].first = "no Pistachio";
  cases[0].second.magic = 0x54534950;
  cases[1].first = "protocol version";
  cases[1].second.version += 1;
  cases[2].first = "another job";
  cases[2].second.tag = 78;  // of another rank
  cases[3].first = "rank 4";
  cases[3].second.source = 4;
  for (const auto& [text, header] : cases) {
    FrameRefusal refusal = refusal_of(parse(header));
    EXPECT_NE(refusal.why.find(text), std::string::npos) << refusal.why;
    EXPECT_EQ(refusal.source, -1);
  }
  FrameHeader from_myself = good_header();
  from_myself.source = kExpected.self;
  EXPECT_EQ(refusal_of(parse(from_myself)).source, -1);
  EXPECT_NE(refusal_of(parse_frame({}, 0, kExpected)).why.find("too short"), std::string::npos);
}

TEST(FrameTest, WrongLengthsAreRejected) {
  auto refused = [](auto change, const std::string& text, const std::string& head = "head", uint64_t piece = 600) {
    FrameHeader header = good_header();
    change(header);
    FrameRefusal refusal = refusal_of(parse(header, head, piece));
    EXPECT_NE(refusal.why.find(text), std::string::npos) << refusal.why;
    EXPECT_EQ(refusal.source, 2);
  };
  refused([](FrameHeader& header) { header.head_length = 5; }, "head of 5 bytes");
  refused([](FrameHeader& header) { header.head_length = kLargestHead + 1; }, "head of", std::string(kLargestHead + 1, 'x'));
  refused([](FrameHeader&) {}, "has 601", "head", 601);
  refused([](FrameHeader& header) { header.piece_length = -600; }, "piece of -600");
  refused([](FrameHeader& header) { header.payload_length = kLargestPayload + 1; }, "outside 0 to");
  refused([](FrameHeader& header) { header.payload_length = -2; }, "outside 0 to");
  refused([](FrameHeader& header) { header.payload_length = -1; }, "lies outside");
  refused([](FrameHeader& header) { header.piece_offset = 401; }, "lies outside");
  refused([](FrameHeader& header) { header.piece_offset = -1; }, "lies outside");
  refused([](FrameHeader& header) { header.piece_offset = INT64_MAX; }, "lies outside");
  refused([](FrameHeader& header) { header.piece_offset = 10; }, "later piece has a head");
  refused([](FrameHeader& header) { header.piece_length = 0; }, "is empty", "head", 0);
}

TEST(FrameTest, RandomBytesAreRefused) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = frame_bytes(good_header(), "head");
    int changes = 1 + static_cast<int>(random() % 8);
    for (int i = 0; i < changes; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    auto answer = parse_frame({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, 600, kExpected);
    if (const Frame* frame = std::get_if<Frame>(&answer)) {
      EXPECT_LE(frame->header.payload_length, kLargestPayload);
      EXPECT_LE(frame->header.piece_offset + frame->header.piece_length, frame->header.payload_length);
      EXPECT_EQ(frame->header.piece_length, 600);
    }
  }
}

TEST(FrameTest, ChecksumDetectsChangedAndSwappedBytes) {
  for (size_t length : {1, 7, 8, 31, 32, 33, 100}) {
    std::vector<uint8_t> bytes(length);
    for (size_t i = 0; i < length; ++i) bytes[i] = static_cast<uint8_t>(i * 37 + 1);
    uint64_t sum = payload_checksum(bytes);
    for (size_t i = 0; i < length; ++i) {
      bytes[i] ^= 0x10;
      EXPECT_NE(payload_checksum(bytes), sum) << length << " " << i;
      bytes[i] ^= 0x10;
    }
    if (length >= 2) {
      std::swap(bytes[0], bytes[length - 1]);
      EXPECT_NE(payload_checksum(bytes), sum);
    }
  }
  EXPECT_NE(payload_checksum({}), 0u);
}

}  // namespace
}  // namespace pistachio
