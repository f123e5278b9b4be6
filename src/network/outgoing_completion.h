// Ends outgoing messages, sent or failed: calls the send callback, counts and traces. The counterpart of IncomingDelivery.
// Owned by UcxProgress and used by its thread (without connect(), by the thread that stops the transport); any thread may read the counts.
// Memory: none.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>

#include "network/message_trace.h"
#include "network/outgoing_message.h"

namespace pistachio {

class OutgoingCompletion {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  // The trace outlives it.
  explicit OutgoingCompletion(MessageTrace& trace) : trace_(trace) {}

  // The message was sent, unless it has an error. `now` is the time that goes into the trace.
  void finish(OutgoingMessage& message, TimePoint now);
  // Keeps the error that the message may already have.
  void fail(OutgoingMessage& message, const std::exception_ptr& error);

  // Sent without an error.
  int64_t messages() const { return messages_; }
  int64_t bytes() const { return bytes_; }

 private:
  static void call_back(OutgoingMessage& message);

  MessageTrace& trace_;
  std::atomic<int64_t> messages_ = 0;
  std::atomic<int64_t> bytes_ = 0;
};

}  // namespace pistachio
