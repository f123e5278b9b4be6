// The peers of a UcxTransport: who they are, the connection to each, and whether each is alive. A peer first breaks (mark_broken(), also in
// UCX's callbacks, where nothing can be closed) and is lost at the next opportunity, when UcxProgress calls lose().
// Owned by UcxProgress and used by its thread (and by connect(), before that starts); any thread may ask for a route. UCX's callbacks hold
// pointers to peers, so the worker is destroyed first. Memory: one endpoint, and for a process on this machine one descriptor, per peer.
#pragma once

#include <ucp/api/ucp.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "network/process_watch.h"
#include "network/rank_info.h"
#include "network/ucx_handles.h"
#include "network/ucx_transport.h"

namespace pistachio {

struct UcxPeer {
  using TimePoint = std::chrono::steady_clock::time_point;

  RankInfo info;
  ucp_ep_h endpoint = nullptr;
  int64_t largest_frame = 0;  // bytes of a piece with everything in front of it
  TimePoint last_sent;
  TimePoint last_heard;
  bool was_heard = false;
  ProcessWatch process;  // of a peer on this machine
  std::optional<TimePoint> ended_at;
  std::string broken;  // why the peer is about to be lost
  bool lost = false;
  std::string lost_because;

  // Neither lost nor about to be.
  bool is_sound() const { return !lost && broken.empty(); }
  // The first reason counts.
  void mark_broken(std::string why);
  void mark_connection_broken(ucs_status_t status);
  // The PeerError for a message that a lost or broken peer does not get.
  std::exception_ptr not_sent_error() const;
};

class UcxPeers {
 public:
  using Clock = std::chrono::steady_clock;
  using TimePoint = Clock::time_point;

  // Both outlive the last call; the worker may be constructed later.
  UcxPeers(const UcxOptions& options, const UcxWorker& worker) : options_(options), worker_(worker) {}

  // All ranks in order, including this one.
  void add(const std::vector<RankInfo>& job, TimePoint now);
  // Connects to all but those in `lost`, which are lost from the start. Throws PeerError if this is rank 0 of a job that just starts and a
  // rank cannot be reached.
  void open_endpoints(const std::vector<int>& lost);

  UcxPeer& operator[](int rank) { return peers_[static_cast<size_t>(rank)]; }
  const UcxPeer& self() const { return peers_[static_cast<size_t>(options_.rank)]; }
  // Whether messages to the rank go to another host. In a job on one host they count as if they did.
  bool crosses_network(const UcxPeer& peer) const;
  auto begin() { return peers_.begin(); }
  auto end() { return peers_.end(); }
  // By any thread. Empty for this rank and before add().
  std::string route(int rank) const;

  // This process did not run for `pause`. If its peers have given it up by now, marks them all broken and returns true: they may have
  // reused memory that UCX still lets this process read, so later messages cannot be trusted. Shorter pauses do not count towards the
  // peers' timeouts.
  bool notice_own_pause(Clock::duration pause);
  // Marks a peer broken that has been silent for too long, and returns whether it has been.
  bool notice_silence(UcxPeer& peer, TimePoint now) const;
  // Marks peers broken whose process on this machine has ended. Returns when to call it again; max() if no process is draining.
  TimePoint notice_ended_processes(TimePoint now);

  // Closes the connection to a broken peer.
  void lose(UcxPeer& peer);
  // Connects to the new process of a lost rank.
  void replace(const RankInfo& info);
  void close_endpoint(UcxPeer& peer);
  // Frees the requests of endpoints that are closed by now. True if none is left.
  bool free_closed();

 private:
  ucs_status_t open_endpoint(UcxPeer& peer);
  static void on_endpoint_error(void* argument, ucp_ep_h endpoint, ucs_status_t status);

  const UcxOptions& options_;
  const UcxWorker& worker_;
  std::deque<UcxPeer> peers_;   // by rank
  std::vector<void*> closing_;  // UCX requests

  mutable std::mutex mutex_;
  std::vector<std::string> routes_;  // guarded by mutex_; by rank
};

}  // namespace pistachio
