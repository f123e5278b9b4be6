// Sends the messages of a UcxTransport: queues them per peer, cuts them into pieces and hands these to UCX while few enough are in flight
// and the bandwidth limit permits; also heartbeats and goodbyes. A failed send marks its peer broken; closing it is up to UcxProgress.
// Owned by UcxProgress and used by its thread alone. UCX's callbacks hold pointers to pieces, so the worker is destroyed first.
// Memory: payloads until they are sent; pieces in flight to a lost peer until UCX returns them or is gone.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "base/bandwidth_limit.h"
#include "network/fair_queues.h"
#include "network/incoming_delivery.h"
#include "network/job_secret.h"
#include "network/outgoing_completion.h"
#include "network/outgoing_message.h"
#include "network/ucx_loop_state.h"
#include "network/ucx_peers.h"
#include "network/ucx_transport.h"

namespace pistachio {

class UcxSending {
 public:
  using Clock = std::chrono::steady_clock;
  using TimePoint = Clock::time_point;

  // All outlive it. Messages to this rank itself go straight to `incoming`.
  UcxSending(const UcxOptions& options, const UcxLoopState& loop, UcxPeers& peers, OutgoingCompletion& completion,
             IncomingDelivery& incoming);

  // Call once the peers are known.
  void add_peers(const JobSecret& key);

  void accept(std::shared_ptr<OutgoingMessage> message);
  // True if at least one piece went to UCX.
  bool begin_pieces();
  // Unless an earlier one is still in flight.
  void send_heartbeat(int peer);
  void send_goodbye(int peer);

  // Ends messages with pieces in flight to a peer; UCX may keep their memory.
  void abandon_pieces(int peer, const std::exception_ptr& error);
  // Ends messages that wait for a peer.
  void fail_waiting(int peer, const std::exception_ptr& error);
  // The peer was replaced: pieces to the old process, all abandoned, no longer count.
  void forget_pieces(int peer);

  bool has_pieces_under_way() const { return !pieces_.empty(); }
  // When the bandwidth limit lets the next piece pass; max() if it holds none back.
  TimePoint next_due() const { return holding_back_ ? limit_.free_at() : TimePoint::max(); }

 private:
  struct Outbox {
    UcxPeer& peer;
    uint64_t tag = 0;                                      // of frames to the peer
    bool is_limited = false;                               // by the bandwidth limit
    FairQueues<std::shared_ptr<OutgoingMessage>> waiting;  // not handed to UCX yet or only in part
    int pieces_under_way = 0;
    int64_t bytes_under_way = 0;
    int controls_under_way = 0;  // heartbeats and goodbyes
  };
  // What UCX's callbacks get: it stays in its list, and so alive, until UCX is done with it or gone.
  struct Piece {
    UcxSending& owner;
    std::shared_ptr<OutgoingMessage> message;  // null: a heartbeat or a goodbye
    int peer = 0;
    std::string frame;
    int64_t length = 0;
    bool abandoned = false;
    std::list<Piece>::iterator place;
  };

  void deliver_to_self(OutgoingMessage& message);
  bool begin_next_piece(Outbox& outbox);
  void begin_piece(Outbox& outbox, const std::shared_ptr<OutgoingMessage>& message);
  void send_control(Outbox& outbox, unsigned handler);
  void hand_to_ucx(Outbox& outbox, Piece& piece, unsigned handler, const uint8_t* data);
  void piece_sent(Piece& piece, ucs_status_t status);
  int64_t piece_limit(const Outbox& outbox, const OutgoingMessage& message) const;
  static void on_piece_sent(void* request, ucs_status_t status, void* argument);

  const UcxOptions& options_;
  const UcxLoopState& loop_;
  UcxPeers& peers_;
  OutgoingCompletion& completion_;
  IncomingDelivery& incoming_;
  std::vector<Outbox> outboxes_;  // by rank
  std::list<Piece> pieces_;
  // To lost peers: UCX does not always return buffers in flight to a process that died, so their memory stays until UCX is gone.
  std::list<Piece> abandoned_;
  BandwidthLimit limit_;
  uint64_t next_number_ = 0;
  size_t next_outbox_ = 0;
  bool holding_back_ = false;  // due to the bandwidth limit
};

}  // namespace pistachio
