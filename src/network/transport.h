// Point-to-point messages between the ranks of a job, over UCX (ucx_transport.h) or in-process memory (loopback_transport.h). Messages may be sent between
// any pair at any time; their order is not guaranteed. Flow control is up to the layers above: a transport queues whatever it is given, so only
// senders that hold credit may send much. send() is thread-safe and never blocks. The receiver is called on the transport's thread, one call at a time.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <string>

#include "network/rank_info.h"

namespace pistachio {

// Small things travel in the head (at most kLargestHead bytes), rows in the payload.
struct Message {
  uint16_t kind = 0;
  std::string head;
  at::Tensor payload;  // uint8 [bytes] on the host, contiguous; undefined: none. A received one is aligned to 64 bytes and owned alone.
  int urgency = 0;     // where messages wait for the link, those of more go first; does not travel
};

constexpr size_t kLargestHead = 4096;

class MessageReceiver {
 public:
  virtual ~MessageReceiver() = default;
  // Must be short and must not throw or block; may call send().
  virtual void on_message(int source, Message message) noexcept = 0;
  // Once for each process of a peer at most: nothing can be sent to it and nothing more will come. `why` is a sentence for the user.
  virtual void on_peer_lost(int peer, std::string why) noexcept = 0;
  // Transport::replace() has taken effect: what comes from here on is of the new process. The loss of the old one was told before.
  virtual void on_peer_replaced(const RankInfo&) noexcept {}
};

struct TransportStatistics {
  int64_t messages_sent = 0;
  int64_t messages_received = 0;
  int64_t bytes_sent = 0;  // heads and payloads
  int64_t bytes_received = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;

  virtual int rank() const = 0;
  virtual int ranks() const = 0;

  // Messages that arrive before this are kept. The receiver must live until stop() has returned.
  virtual void start(MessageReceiver& receiver) = 0;
  // Ends all traffic: what is not sent yet is dropped, callbacks run with an error. No call to the receiver afterwards.
  virtual void stop() = 0;

  // To oneself as well. `on_sent` runs once, on the transport's thread: when the payload's memory may be used again (null), or with what
  // went wrong. The payload is kept alive until then.
  using SentCallback = std::function<void(std::exception_ptr error)>;
  virtual void send(int peer, Message message, SentCallback on_sent = {}) = 0;

  // A lost peer was started again: messages that are sent from here on go to the new process, and only those of the new one are taken. A
  // peer that still counts as alive is lost first. News that is older than what is known (by incarnation) changes nothing. Never blocks.
  virtual void replace(RankInfo peer) = 0;
  // Falls silent for good, as if its network were gone: for tests of what this rank and the others make of that.
  virtual void cut() = 0;

  virtual TransportStatistics statistics() const = 0;
  // The last messages, one a line, for a job that hangs or has lost a rank.
  virtual std::string recent_messages() const = 0;
};

}  // namespace pistachio
