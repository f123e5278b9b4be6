#include "network/ucx_peers.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/error.h"

namespace pistachio {
namespace {

// How long to wait for the last messages of a process that has ended: they may still be in shared memory.
constexpr std::chrono::milliseconds kDeadPeerDrainTime{200};

double seconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

void UcxPeer::mark_broken(std::string why) {
  if (is_sound()) broken = std::move(why);
}

void UcxPeer::mark_connection_broken(ucs_status_t status) {
  mark_broken(fmt::format("the connection to {} broke: {}", info.to_string(), ucx_text(status)));
}

std::exception_ptr UcxPeer::not_sent_error() const {
  return std::make_exception_ptr(PeerError(info.rank, "a message was not sent: " + (lost ? lost_because : broken)));
}

void UcxPeers::add(const std::vector<RankInfo>& job, TimePoint now) {
  ENSURE(peers_.empty(), "connect() was called twice");
  ENSURE_EQ(static_cast<int>(job.size()), options_.ranks);
  for (const RankInfo& info : job) {
    UcxPeer& peer = peers_.emplace_back();
    peer.info = info;
    peer.last_heard = peer.last_sent = now;
  }
  std::lock_guard lock(mutex_);
  routes_.resize(job.size());
}

bool UcxPeers::crosses_network(const UcxPeer& peer) const {
  const int own = self().info.host_index;
  const bool is_only_host = std::all_of(peers_.begin(), peers_.end(), [&](const UcxPeer& other) { return other.info.host_index == own; });
  return is_only_host || peer.info.host_index != own;
}

void UcxPeers::open_endpoints(const std::vector<int>& lost) {
  bool joins_later = self().info.incarnation > 0;
  for (UcxPeer& peer : peers_) {
    if (peer.info.rank == options_.rank) continue;
    if (std::find(lost.begin(), lost.end(), peer.info.rank) != lost.end()) {
      peer.lost = true;
      peer.lost_because = fmt::format("{} was lost before this rank joined", peer.info.to_string());
      continue;
    }
    ucs_status_t status = open_endpoint(peer);
    if (status == UCS_OK) continue;
    std::string why = fmt::format("{} cannot be reached: {}", peer.info.to_string(), ucx_text(status));
    // A rank that joins a running job may see the address of a rank that has just died and will be replaced. And in a very short job, ranks
    // may have left before others connect: rank 0, where the user is, knows whether that is an error.
    if (!joins_later && options_.rank == 0) throw PeerError(why);
    peer.mark_broken(why);
  }
}

// Also watches the process if it runs on this machine.
ucs_status_t UcxPeers::open_endpoint(UcxPeer& peer) {
  ucp_ep_params_t parameters{};
  parameters.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
  parameters.address = reinterpret_cast<const ucp_address_t*>(peer.info.address.data());
  parameters.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  parameters.err_handler.cb = on_endpoint_error;
  parameters.err_handler.arg = &peer;
  ucs_status_t status = ucx().ucp_ep_create(worker_.get(), &parameters, &peer.endpoint);
  if (status != UCS_OK) {
    peer.endpoint = nullptr;
    return status;
  }
  bool same_host = peer.info.host_key == self().info.host_key;
  if (same_host && peer.info.pid != getpid()) peer.process = ProcessWatch(peer.info.pid);
  std::string route = route_of(peer.endpoint);
  bool shares_memory = goes_through_shared_memory(route);
  peer.largest_frame = shares_memory ? kSharedMemorySegment - kSharedMemoryOverhead : std::numeric_limits<int64_t>::max();
  std::lock_guard lock(mutex_);
  routes_[static_cast<size_t>(peer.info.rank)] = std::move(route);
  return status;
}

void UcxPeers::on_endpoint_error(void* argument, ucp_ep_h endpoint, ucs_status_t status) {
  UcxPeer& peer = *static_cast<UcxPeer*>(argument);
  if (endpoint != peer.endpoint) return;  // already closed; the peer may have a new one
  peer.mark_connection_broken(status);
}

std::string UcxPeers::route(int rank) const {
  std::lock_guard lock(mutex_);
  return routes_.empty() ? "" : routes_.at(static_cast<size_t>(rank));
}

bool UcxPeers::notice_own_pause(Clock::duration pause) {
  if (pause <= options_.heartbeat_interval * 2) return false;
  bool too_long = pause > options_.peer_timeout;
  for (UcxPeer& peer : peers_) {
    peer.last_heard += pause;
    if (too_long && peer.info.rank != options_.rank) {
      peer.mark_broken(fmt::format("this process (rank {}) did not run for {:.1f} s, so {} has given it up", options_.rank, seconds(pause),
                                   peer.info.to_string()));
    }
  }
  return too_long;
}

bool UcxPeers::notice_silence(UcxPeer& peer, TimePoint now) const {
  auto silent = now - peer.last_heard;
  if (silent <= (peer.was_heard ? options_.peer_timeout : options_.connect_timeout)) return false;
  peer.mark_broken(fmt::format("{} has sent nothing for {:.1f} s: it has stopped, or the network to it is down", peer.info.to_string(),
                               seconds(silent)));
  return true;
}

UcxPeers::TimePoint UcxPeers::notice_ended_processes(TimePoint now) {
  TimePoint next = TimePoint::max();
  for (UcxPeer& peer : peers_) {
    if (peer.lost || peer.process.descriptor() < 0) continue;
    if (!peer.ended_at && peer.process.has_ended()) peer.ended_at = now;
    if (!peer.ended_at) continue;
    if (now - *peer.ended_at >= kDeadPeerDrainTime) {
      peer.mark_broken(fmt::format("{} has ended without a goodbye: it crashed or was killed", peer.info.to_string()));
    } else {
      next = std::min(next, *peer.ended_at + kDeadPeerDrainTime);
    }
  }
  return next;
}

void UcxPeers::lose(UcxPeer& peer) {
  peer.lost = true;
  peer.lost_because = peer.broken;
  peer.process.stop();
  close_endpoint(peer);
}

void UcxPeers::replace(const RankInfo& info) {
  UcxPeer& peer = (*this)[info.rank];
  peer.info = info;
  peer.last_heard = peer.last_sent = Clock::now();
  peer.was_heard = false;
  peer.ended_at.reset();
  peer.broken.clear();
  peer.lost = false;
  peer.lost_because.clear();
  ucs_status_t status = open_endpoint(peer);
  if (status != UCS_OK) peer.mark_broken(fmt::format("{} cannot be reached: {}", info.to_string(), ucx_text(status)));
}

void UcxPeers::close_endpoint(UcxPeer& peer) {
  if (peer.endpoint == nullptr) return;
  ucp_request_param_t parameters{};
  parameters.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  parameters.flags = UCP_EP_CLOSE_FLAG_FORCE;
  ucs_status_ptr_t request = ucx().ucp_ep_close_nbx(std::exchange(peer.endpoint, nullptr), &parameters);
  if (UCS_PTR_IS_PTR(request)) closing_.push_back(request);
}

bool UcxPeers::free_closed() {
  std::erase_if(closing_, [](void* request) {
    bool done = ucx().ucp_request_check_status(request) != UCS_INPROGRESS;
    if (done) ucx().ucp_request_free(request);
    return done;
  });
  return closing_.empty();
}

}  // namespace pistachio
