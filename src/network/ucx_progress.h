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
#include "network/message_assembly.h"
#include "network/message_trace.h"
#include "network/process_watch.h"
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

  // A message from send() until its last piece is done.
  struct OutgoingMessage {
    int peer = 0;
    Message message;
    Transport::SentCallback on_sent;
    uint64_t number = 0;
    TimePoint accepted;  // under a bandwidth limit
    int64_t begun = 0;  // bytes of payload handed to UCX
    bool first_begun = false;
    int pieces_under_way = 0;
    std::exception_ptr error;
    // Not a message but, in order with messages, the replacement of the peer.
    std::optional<RankInfo> replacement;

    bool all_begun() const;
  };
  // Arguments of UCX's callbacks: they stay in their lists, and so alive, until UCX is done with them or gone.
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
    int64_t largest_frame = 0;  // of a piece including everything in front of it
    // Not or only partly handed to UCX. Small messages do not wait for large ones: the two alternate.
    std::deque<std::shared_ptr<OutgoingMessage>> waiting_small;
    std::deque<std::shared_ptr<OutgoingMessage>> waiting_large;
    bool large_has_turn = false;
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
  // Queued until start().
  struct Event {
    int peer = 0;
    Message message;
    std::string lost_because;             // not empty: a loss, not a message
    std::optional<RankInfo> replacement;  // likewise: a replacement
    TimePoint held_since = {};            // by the bandwidth limit
  };

  void run();
  bool queue(std::shared_ptr<OutgoingMessage>& message);
  bool take_queue();
  bool progress();
  void sleep();
  void tick(TimePoint now);
  bool notice_own_stall();
  void wind_up();
  void end_queue();

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
  void deliver(Event event);
  bool deliver_held();
  bool is_holding() const { return !held_small_.empty() || !held_large_.empty(); }
  void count_and_hand_over(Event event);
  TimePoint next_due() const;
  void hand_to_receiver(Event event);
  void deliver_kept();
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
  std::atomic<int64_t> messages_received_ = 0;
  std::atomic<int64_t> bytes_sent_ = 0;
  std::atomic<int64_t> bytes_received_ = 0;

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<std::shared_ptr<OutgoingMessage>> queue_;
  MessageReceiver* new_receiver_ = nullptr;
  std::vector<std::string> routes_;  // by rank, from connect() on
  bool asleep_ = false;
  bool stopping_ = false;
  bool ended_ = false;

  // Used by the thread.
  std::deque<Peer> peers_;  // by rank
  FrameExpectation expected_;
  MessageReceiver* receiver_ = nullptr;
  std::deque<Event> kept_;
  // Messages up to this size do not wait for larger ones.
  static constexpr int64_t kSmallMessage = 64 << 10;
  // How far a receiver may be ahead of its limit: senders do not keep pace to the microsecond, and delayed bytes may catch up.
  static constexpr std::chrono::milliseconds kIncomingSlack{20};
  // The link keeps working while this thread oversleeps: queued bytes count from when the link became free, but at most this long ago.
  static constexpr std::chrono::milliseconds kMostLateness{50};
  TimePoint given_to_link(TimePoint waiting_since) const { return std::max(waiting_since, Clock::now() - kMostLateness); }
  // Delayed by the bandwidth limit; bounded by the senders' windows.
  std::deque<Event> held_small_;
  std::deque<Event> held_large_;
  bool held_large_has_turn_ = false;
  std::list<OutgoingPiece> outgoing_pieces_;
  std::list<IncomingPiece> incoming_pieces_;
  // Of lost peers: UCX does not always return buffers in flight to a process that died, so their memory stays until UCX is gone.
  std::list<OutgoingPiece> abandoned_outgoing_;
  std::list<IncomingPiece> abandoned_incoming_;
  std::vector<void*> closing_;  // UCX requests
  std::set<std::string> refusals_logged_;
  BandwidthLimit limit_;
  BandwidthLimit incoming_limit_;
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
