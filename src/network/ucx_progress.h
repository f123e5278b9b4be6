// Progress thread of a UcxTransport: takes queued messages, hands them to UCX piece by piece, receives, sends heartbeats and detects lost peers. Members
// below "Used by the thread" belong to it alone (and to connect(), before it starts).
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <list>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "base/bandwidth_limit.h"
#include "network/frame.h"
#include "network/incoming_delivery.h"
#include "network/message_assembly.h"
#include "network/message_trace.h"
#include "network/outgoing_message.h"
#include "network/process_watch.h"
#include "network/progress_inbox.h"
#include "network/turn_queues.h"
#include "network/ucx_handles.h"
#include "network/ucx_transport.h"

namespace pistachio {

class UcxProgress {
 public:
  explicit UcxProgress(UcxOptions options);
  ~UcxProgress() { stop(); }

  void connect(const std::vector<RankInfo>& job, const JobSecret& key, const std::vector<int>& lost);
  void start(MessageReceiver& receiver);
  void stop();
  void send(int peer, Message message, Transport::SentCallback on_sent);
  void replace(RankInfo peer);
  void cut() { cut_ = true; }

  const UcxOptions& options() const { return options_; }
  const UcxWorker& worker() const { return worker_; }
  const MessageTrace& trace() const { return trace_; }
  TransportStatistics statistics() const;
  std::string route(int rank) const;

 private:
  using Clock = std::chrono::steady_clock;
  using TimePoint = Clock::time_point;

  // What UCX's callbacks get: they stay in their lists, and so alive, until UCX is done with them or gone.
  struct OutgoingPiece {
    UcxProgress& owner;
    std::shared_ptr<OutgoingMessage> message;  // null: a heartbeat or a goodbye
    int peer = 0;
    std::string frame;
    int64_t length = 0;
    bool abandoned = false;
    std::list<OutgoingPiece>::iterator place;
  };
  struct IncomingPiece {
    UcxProgress& owner;
    std::shared_ptr<IncomingMessage> message;
    FrameHeader header;
    bool abandoned = false;
    std::list<IncomingPiece>::iterator place;
  };
  struct Peer {
    UcxProgress* owner = nullptr;
    RankInfo info;
    ucp_ep_h endpoint = nullptr;
    uint64_t tag = 0;           // of frames to it
    int64_t largest_frame = 0;  // of a piece with all that goes in front of it
    TurnQueues<std::shared_ptr<OutgoingMessage>> waiting;  // not handed to UCX yet or only in part
    int pieces_under_way = 0;
    int64_t bytes_under_way = 0;
    int heartbeats_under_way = 0;
    TimePoint last_sent;
    TimePoint last_heard;
    bool was_heard = false;
    ProcessWatch process;  // of a peer on this machine
    std::optional<TimePoint> ended_at;
    MessageAssembly assembly;
    std::string broken;  // set in a UCX callback, where nothing can be closed: why the peer is to be lost
    bool lost = false;
    std::string lost_because;
  };

  void run();
  bool take_inbox();
  bool progress();
  void sleep();
  void tick(TimePoint now);
  bool notice_own_stall();
  void wind_up();
  void end_inbox();

  // Sending (ucx_sending.cpp).
  void accept_outgoing(std::shared_ptr<OutgoingMessage> message);
  void deliver_to_self(OutgoingMessage& message);
  bool begin_pieces();
  bool begin_next_piece(Peer& peer);
  void begin_piece(Peer& peer, const std::shared_ptr<OutgoingMessage>& message);
  void send_control(Peer& peer, unsigned handler);
  void hand_to_ucx(Peer& peer, OutgoingPiece& piece, unsigned handler, const uint8_t* data);
  void piece_sent(OutgoingPiece& piece, ucs_status_t status);
  void finish_outgoing(OutgoingMessage& message);
  void fail_waiting(Peer& peer, const std::exception_ptr& error);
  int64_t piece_limit(const Peer& peer, const OutgoingMessage& message) const;
  static void on_piece_sent(void* request, ucs_status_t status, void* argument);

  // Receiving (ucx_receiving.cpp).
  static ucs_status_t on_message_frame(void* argument, const void* header, size_t header_length, void* data, size_t length,
                                       const ucp_am_recv_param_t* parameters);
  static ucs_status_t on_control_frame(void* argument, const void* header, size_t header_length, void* data, size_t length,
                                       const ucp_am_recv_param_t* parameters);
  static ucs_status_t on_goodbye_frame(void* argument, const void* header, size_t header_length, void* data, size_t length,
                                       const ucp_am_recv_param_t* parameters);
  static void on_piece_received(void* request, ucs_status_t status, size_t length, void* argument);
  static void on_endpoint_error(void* argument, ucp_ep_h endpoint, ucs_status_t status);
  std::optional<Frame> accept_frame(const void* header, size_t header_length, size_t length);
  ucs_status_t receive_piece(Frame& frame, void* data, bool announced_only);
  void receive_announced(std::shared_ptr<IncomingMessage> incoming, const FrameHeader& header, void* data);
  void piece_received(IncomingMessage& incoming, const FrameHeader& header);
  void deliver(int source, Message message);
  TimePoint next_due() const;
  void refuse(const FrameRefusal& refusal);

  // Peers.
  void mark_broken(Peer& peer, std::string why);
  bool lose_broken_peers();
  void lose(Peer& peer, std::string why);
  ucs_status_t open_endpoint(Peer& peer);
  void close_endpoint(Peer& peer);
  void free_closed();
  void replace_peer(const RankInfo& info);
  void abandon_pieces(const Peer& peer, const std::exception_ptr& error);
  void notice_ended_processes(TimePoint now);

  const UcxOptions options_;
  MessageTrace trace_;
  std::atomic<bool> cut_ = false;
  std::atomic<int64_t> messages_sent_ = 0;
  std::atomic<int64_t> bytes_sent_ = 0;

  ProgressInbox inbox_;

  mutable std::mutex mutex_;
  std::vector<std::string> routes_;  // guarded by mutex_; by rank, from connect() on

  // Used by the thread.
  std::deque<Peer> peers_;  // by rank
  FrameExpectation expected_;
  IncomingDelivery incoming_;
  std::list<OutgoingPiece> outgoing_pieces_;
  std::list<IncomingPiece> incoming_pieces_;
  // Of lost peers: UCX does not always return buffers in flight to a process that died, so their memory stays until UCX is gone.
  std::list<OutgoingPiece> abandoned_outgoing_;
  std::list<IncomingPiece> abandoned_incoming_;
  std::vector<void*> closing_;  // UCX requests
  std::set<std::string> refusals_logged_;
  BandwidthLimit limit_;
  uint64_t next_number_ = 0;
  size_t next_peer_ = 0;
  TimePoint loop_began_;
  TimePoint next_tick_;
  bool holding_back_ = false;  // due to the bandwidth limit
  bool leaving_ = false;       // nothing new is received

  // After everything that UCX's callbacks use, so that it is destroyed first.
  UcxContext context_;
  UcxWorker worker_;

  std::mutex joining_;  // stop() may be called by several threads
  std::thread thread_;
  std::atomic<std::thread::id> thread_id_;
};

}  // namespace pistachio
