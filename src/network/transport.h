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

// Small data goes in the head (at most kLargestHead bytes), rows in the payload.
struct Message {
  uint16_t kind = 0;
  std::string head;
  at::Tensor payload;  // uint8 [bytes] on the host, contiguous; undefined: none. A received one is 64-byte aligned and not shared.
  int urgency = 0;     // messages waiting for the link are sent in descending order of this; not transmitted
};

constexpr size_t kLargestHead = 4096;

class MessageReceiver {
 public:
  virtual ~MessageReceiver() = default;
  // Must be short and must not throw or block; may call send().
  virtual void on_message(int source, Message message) noexcept = 0;
  // At most once per process of a peer: nothing more can be sent to it or will arrive. `why` is a sentence for the user.
  virtual void on_peer_lost(int peer, std::string why) noexcept = 0;
  // Transport::replace() has taken effect: later messages are from the new process. on_peer_lost was called for the old one.
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

  // Earlier messages are queued. The receiver must live until stop() returns.
  virtual void start(MessageReceiver& receiver) = 0;
  // Ends all traffic: drops unsent messages and runs their callbacks with an error. The receiver is not called afterwards.
  virtual void stop() = 0;

  // May send to itself. `on_sent` runs once, on the transport's thread: with null when the payload's memory may be reused, or with an
  // error. The payload is kept alive until then.
  using SentCallback = std::function<void(std::exception_ptr error)>;
  virtual void send(int peer, Message message, SentCallback on_sent = {}) = 0;

  // A lost peer was restarted: later messages go to the new process, and only its messages are accepted. A peer that still counts as alive
  // is lost first. An outdated incarnation is ignored. Never blocks.
  virtual void replace(RankInfo peer) = 0;
  // Goes silent for good, as if its network were gone: for a rank without the memory to report its failure, and for tests of how this rank
  // and the others react.
  virtual void cut() = 0;

  virtual TransportStatistics statistics() const = 0;
  // The latest messages, one per line, to diagnose a hang or a lost rank.
  virtual std::string recent_messages() const = 0;
};

}  // namespace pistachio
