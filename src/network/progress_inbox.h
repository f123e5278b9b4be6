// Requests of other threads to the progress thread of a UcxTransport: messages to send, the receiver, the request to stop. Thread-safe;
// wakes the thread if it sleeps. The worker is signalled under the lock, because it is destroyed once end() was called.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "network/outgoing_message.h"
#include "network/ucx_handles.h"

namespace pistachio {

class ProgressInbox {
 public:
  explicit ProgressInbox(const UcxWorker& worker) : worker_(worker) {}

  // By any thread. False: the transport has ended; the message is still the caller's.
  bool push(std::shared_ptr<OutgoingMessage>& message);
  void set_receiver(MessageReceiver& receiver);
  void request_stop();

  // By the progress thread.
  struct Taken {
    std::vector<std::shared_ptr<OutgoingMessage>> messages;
    MessageReceiver* receiver = nullptr;
  };
  Taken take();
  bool is_stopping() const;
  // Until end_sleep(), push() wakes the thread. False: there is something new and it must not sleep. `receiver` is the one that the thread
  // already has.
  bool begin_sleep(const MessageReceiver* receiver);
  void end_sleep();
  // The last call: nothing is accepted any more. Returns messages that came too late.
  std::vector<std::shared_ptr<OutgoingMessage>> end();

 private:
  void signal() const;

  const UcxWorker& worker_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<std::shared_ptr<OutgoingMessage>> messages_;
  MessageReceiver* receiver_ = nullptr;
  bool is_asleep_ = false;
  bool is_stopping_ = false;
  bool has_ended_ = false;
};

}  // namespace pistachio
