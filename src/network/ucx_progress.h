// Progress thread of a UcxTransport: takes what other threads queued, drives UCX, sleeps, keeps the timers and winds up. It owns the peers,
// sending and receiving. These two know the peers but not each other, and mark a peer broken; this class then removes it from all three.
// Members below "Used by the thread" belong to it alone (and to connect(), before it starts).
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "network/incoming_delivery.h"
#include "network/message_trace.h"
#include "network/outgoing_completion.h"
#include "network/progress_inbox.h"
#include "network/ucx_handles.h"
#include "network/ucx_loop_state.h"
#include "network/ucx_peers.h"
#include "network/ucx_receiving.h"
#include "network/ucx_sending.h"
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
  void cut() { loop_.is_cut = true; }

  const UcxOptions& options() const { return options_; }
  const UcxWorker& worker() const { return worker_; }
  const MessageTrace& trace() const { return trace_; }
  TransportStatistics statistics() const;
  std::string route(int rank) const { return peers_.route(rank); }

 private:
  using Clock = std::chrono::steady_clock;
  using TimePoint = Clock::time_point;

  void run();
  bool take_inbox();
  void sleep();
  void tick();
  bool lose_broken_peers();
  void lose(UcxPeer& peer);
  void replace_peer(const RankInfo& info);
  void wind_up();
  void end_inbox();

  const UcxOptions options_;
  MessageTrace trace_;
  ProgressInbox inbox_;

  // Used by the thread; a few members of these say that any thread may use them.
  UcxLoopState loop_;
  UcxPeers peers_;
  IncomingDelivery incoming_;
  OutgoingCompletion completion_;
  UcxSending sending_;
  UcxReceiving receiving_;
  TimePoint next_tick_;

  // After everything that UCX's callbacks use, so that it is destroyed first.
  UcxContext context_;
  UcxWorker worker_;

  std::mutex joining_;  // stop() may be called by several threads
  std::thread thread_;
  std::atomic<std::thread::id> thread_id_;
};

}  // namespace pistachio
