#include "network/outgoing_completion.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace pistachio {
namespace {

std::string outcome_of(const std::exception_ptr& error) {
  if (error == nullptr) return "sent";
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& caught) {
    return caught.what();
  }
}

OutgoingMessage message_noting_its_end(std::vector<std::string>& ends) {
  OutgoingMessage message;
  message.peer = 3;
  message.message = Message{7, "head", {}};
  message.on_sent = [&ends](const std::exception_ptr& error) { ends.push_back(outcome_of(error)); };
  return message;
}

TEST(OutgoingCompletionTest, SentMessageIsCountedAndTraced) {
  MessageTrace trace;
  OutgoingCompletion completion(trace);
  std::vector<std::string> ends;
  OutgoingMessage message = message_noting_its_end(ends);
  completion.finish(message, std::chrono::steady_clock::now());
  EXPECT_EQ(ends, std::vector<std::string>{"sent"});
  EXPECT_EQ(completion.messages(), 1);
  EXPECT_EQ(completion.bytes(), 4);
  EXPECT_NE(trace.to_text().find("to 3"), std::string::npos);
}

TEST(OutgoingCompletionTest, FailedMessageKeepsFirstErrorAndCallsBackOnce) {
  MessageTrace trace;
  OutgoingCompletion completion(trace);
  std::vector<std::string> ends;
  OutgoingMessage message = message_noting_its_end(ends);
  completion.fail(message, std::make_exception_ptr(std::runtime_error("first")));
  completion.fail(message, std::make_exception_ptr(std::runtime_error("second")));
  completion.finish(message, std::chrono::steady_clock::now());
  EXPECT_EQ(ends, std::vector<std::string>{"first"});
  EXPECT_EQ(outcome_of(message.error), "first");
  EXPECT_EQ(completion.messages(), 0);
  EXPECT_TRUE(trace.to_text().empty());
}

}  // namespace
}  // namespace pistachio
