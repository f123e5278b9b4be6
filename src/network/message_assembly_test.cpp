#include "network/message_assembly.h"

#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <random>
#include <vector>

#include "base/error.h"
#include "kernels/ops/tensor_functions.h"
#include "network/message_collector.h"
#include "network/message_limits.h"

namespace pistachio {
namespace {

Frame piece_of(uint64_t number, int64_t whole, int64_t offset, int64_t length) {
  Frame frame;
  frame.header.message = number;
  frame.header.kind = 9;
  frame.header.payload_length = whole;
  frame.header.piece_offset = offset;
  frame.header.piece_length = length;
  if (offset == 0) frame.head = "head";
  return frame;
}

std::optional<Message> receive(MessageAssembly& assembly, Frame frame, const at::Tensor& payload) {
  std::shared_ptr<IncomingMessage> incoming = assembly.begin_piece(frame);
  if (uint8_t* place = MessageAssembly::place_of(*incoming, frame.header)) {
    std::memcpy(place, payload.const_data_ptr<uint8_t>() + frame.header.piece_offset, frame.header.piece_length);
  }
  return assembly.finish_piece(*incoming, frame.header);
}

TEST(MessageAssemblyTest, PiecesAssembleInAnyOrder) {
  at::Tensor payload = numbered_bytes(1000);
  std::mt19937 random(3);
  MessageAssembly assembly;
  for (int round = 0; round < 50; ++round) {
    std::vector<int64_t> offsets{0, 100, 200, 300, 400, 500, 600, 700, 800, 900};
    std::shuffle(offsets.begin(), offsets.end(), random);
    for (size_t i = 0; i < offsets.size(); ++i) {
      std::optional<Message> message = receive(assembly, piece_of(round, 1000, offsets[i], 100), payload);
      ASSERT_EQ(message.has_value(), i + 1 == offsets.size());
      if (!message) continue;
      EXPECT_EQ(message->head, "head");
      EXPECT_EQ(message->kind, 9);
      EXPECT_TRUE(message->payload.equal(payload));
      EXPECT_EQ(reinterpret_cast<uintptr_t>(message->payload.const_data_ptr()) % 64, 0u);
    }
  }
}

TEST(MessageAssemblyTest, NoPayloadDiffersFromEmptyPayload) {
  MessageAssembly assembly;
  EXPECT_FALSE(receive(assembly, piece_of(1, -1, 0, 0), {})->payload.defined());
  std::optional<Message> empty = receive(assembly, piece_of(2, 0, 0, 0), {});
  ASSERT_TRUE(empty->payload.defined());
  EXPECT_EQ(empty->payload.numel(), 0);
}

TEST(MessageAssemblyTest, OutOfMemoryDropsThePayload) {
  MessageAssembly assembly([](int64_t bytes) -> at::Tensor {
    if (bytes > 1000) throw std::bad_alloc();
    return at::empty({bytes}, at::kByte);
  });
  int64_t whole = 2000;
  EXPECT_FALSE(receive(assembly, piece_of(1, whole, whole / 2, whole / 2), {}));
  std::optional<Message> message = receive(assembly, piece_of(1, whole, 0, whole / 2), {});
  ASSERT_TRUE(message);
  EXPECT_EQ(message->kind, kUnreceivedKind);
  EXPECT_EQ(message->head, std::string("\x09\0head", 6));
  EXPECT_FALSE(message->payload.defined());
  // The next message that fits is received as usual.
  EXPECT_EQ(receive(assembly, piece_of(2, 100, 0, 100), numbered_bytes(100))->kind, 9);
}

TEST(MessageAssemblyTest, ContradictoryPiecesAreRejected) {
  at::Tensor payload = numbered_bytes(1000);
  MessageAssembly assembly;
  receive(assembly, piece_of(1, 1000, 0, 900), payload);
  EXPECT_THROW(receive(assembly, piece_of(1, 999, 900, 99), payload), PeerError);
  EXPECT_THROW(receive(assembly, piece_of(1, 1000, 0, 900), payload), PeerError);  // more bytes than the message has
}

}  // namespace
}  // namespace pistachio
