#include "network/message_trace.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pistachio {
namespace {

TEST(MessageTraceTest, KeepsLatestMessagesOldestFirst) {
  MessageTrace trace;
  EXPECT_EQ(trace.to_text(), "");
  for (uint16_t kind = 0; kind < MessageTrace::kKept + 3; ++kind) {
    trace.record(kind % 2 == 0 ? MessageDirection::Sent : MessageDirection::Received, 5, kind, 1536);
  }
  std::string text = trace.to_text();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), static_cast<int64_t>(MessageTrace::kKept));
  std::string first_line = text.substr(0, text.find('\n'));
  EXPECT_NE(first_line.find("from 5  kind 3  1.5 KiB"), std::string::npos) << first_line;
  EXPECT_NE(text.find("to 5  kind 66  "), std::string::npos);
  EXPECT_EQ(text.find("kind 2 "), std::string::npos);
}

}  // namespace
}  // namespace pistachio
