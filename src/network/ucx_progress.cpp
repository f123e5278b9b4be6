// The event loop, timers and peers; ucx_sending.cpp and ucx_receiving.cpp implement the rest of the class.
#include "network/ucx_progress.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/start_thread.h"
#include "network/message_limits.h"
#include "network/ucx_handlers.h"

namespace pistachio {
namespace {

using namespace std::chrono_literals;

// After work the thread polls for more before it sleeps: a reply often arrives sooner than sleeping and waking would take.
constexpr auto kLookBeforeSleep = 30us;
constexpr auto kLookForRoom = 50us;
// How long to wait for the last messages of a process that has ended: they may still be in shared memory.
constexpr auto kDeadPeerDrainTime = 200ms;
// How long a stopping rank waits for pieces in flight, and for its goodbye, which a peer that is gone too never receives.
constexpr auto kPatienceForPieces = 2s;
constexpr auto kPatienceForGoodbye = 300ms;

double seconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

UcxProgress::UcxProgress(UcxOptions options)
    : options_(std::move(options)),
      inbox_(worker_),
      incoming_(options_.rank, options_.link_bandwidth_limit, trace_),
      limit_(options_.link_bandwidth_limit),
      context_(options_.ranks, options_.ucx_settings),
      worker_(context_) {
  ENSURE(options_.rank >= 0 && options_.rank < options_.ranks, "rank {} of {}", options_.rank, options_.ranks);
  ENSURE_GT(options_.piece_bytes, 0);
  if (worker_.largest_header() < sizeof(FrameHeader) + kLargestHead) {
    throw UserError(fmt::format("the transports UCX chose carry only {} bytes in front of a message; leave UCX_TLS at its default",
                                worker_.largest_header()));
  }
  worker_.set_handler(kMessageHandler, on_message_frame, this);
  worker_.set_handler(kHeartbeatHandler, on_control_frame, this);
  worker_.set_handler(kGoodbyeHandler, on_goodbye_frame, this);
}

void UcxProgress::connect(const std::vector<RankInfo>& job, const JobSecret& key, const std::vector<int>& lost) {
  ENSURE(peers_.empty(), "connect() was called twice");
  ENSURE_EQ(static_cast<int>(job.size()), options_.ranks);
  expected_.self = options_.rank;
  loop_began_ = Clock::now();
  next_tick_ = loop_began_;
  for (const RankInfo& info : job) {
    Peer& peer = peers_.emplace_back();
    peer.owner = this;
    peer.info = info;
    peer.tag = frame_tag(key, options_.rank, info.rank);
    expected_.tags.push_back(frame_tag(key, info.rank, options_.rank));
    peer.last_heard = peer.last_sent = loop_began_;
  }
  {
    std::lock_guard lock(mutex_);
    routes_.resize(job.size());
  }
  bool joins_later = peers_[static_cast<size_t>(options_.rank)].info.incarnation > 0;
  for (Peer& peer : peers_) {
    if (peer.info.rank == options_.rank) continue;
    if (std::find(lost.begin(), lost.end(), peer.info.rank) != lost.end()) {
      peer.lost = true;
      peer.lost_because = fmt::format("{} was lost before this rank joined", peer.info.to_string());
      incoming_.add_loss(peer.info.rank, peer.lost_because);
      continue;
    }
    ucs_status_t status = open_endpoint(peer);
    if (status == UCS_OK) continue;
    std::string why = fmt::format("{} cannot be reached: {}", peer.info.to_string(), ucx_text(status));
    // A rank that joins a running job may see the address of a rank that has just died and will be replaced. And in a very short job, ranks
    // may have left before others connect: rank 0, where the user is, knows whether that is an error.
    if (!joins_later && options_.rank == 0) throw PeerError(why);
    mark_broken(peer, why);
  }
  thread_ = start_thread("the network", "raise the limit on processes (ulimit -u)", [this] { run(); });
  thread_id_ = thread_.get_id();
}

// Also watches the process if it runs on this machine.
ucs_status_t UcxProgress::open_endpoint(Peer& peer) {
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
  bool same_host = peer.info.host_key == peers_[static_cast<size_t>(options_.rank)].info.host_key;
  if (same_host && peer.info.pid != getpid()) peer.process = ProcessWatch(peer.info.pid);
  std::string route = route_of(peer.endpoint);
  peer.largest_frame = goes_through_shared_memory(route) ? kSharedMemorySegment - kSharedMemoryOverhead : std::numeric_limits<int64_t>::max();
  std::lock_guard lock(mutex_);
  routes_[static_cast<size_t>(peer.info.rank)] = std::move(route);
  return status;
}

std::string UcxProgress::route(int rank) const {
  std::lock_guard lock(mutex_);
  return routes_.empty() ? "" : routes_.at(static_cast<size_t>(rank));
}

void UcxProgress::start(MessageReceiver& receiver) {
  inbox_.set_receiver(receiver);
}

void UcxProgress::stop() {
  ENSURE(std::this_thread::get_id() != thread_id_.load(), "stop() was called by the receiver");
  inbox_.request_stop();
  std::lock_guard lock(joining_);
  if (thread_.joinable()) {
    thread_.join();
  } else {
    end_inbox();  // never connected
  }
}

void UcxProgress::send(int peer, Message message, Transport::SentCallback on_sent) {
  auto outgoing = std::make_shared<OutgoingMessage>();
  outgoing->peer = peer;
  outgoing->message = std::move(message);
  outgoing->on_sent = std::move(on_sent);
  if (inbox_.push(outgoing)) return;
  if (outgoing->on_sent) outgoing->on_sent(std::make_exception_ptr(Cancelled("the transport was stopped")));
}

void UcxProgress::replace(RankInfo peer) {
  auto news = std::make_shared<OutgoingMessage>();
  news->peer = peer.rank;
  news->replacement = std::move(peer);
  inbox_.push(news);
}

TransportStatistics UcxProgress::statistics() const {
  return {messages_sent_, incoming_.messages(), bytes_sent_, incoming_.bytes()};
}

void UcxProgress::run() {
  TimePoint last_work = Clock::now();
  loop_began_ = last_work;
  while (true) {
    if (notice_own_stall()) lose_broken_peers();
    if (inbox_.is_stopping()) break;
    bool worked = take_inbox();
    worked |= begin_pieces();
    worked |= progress();
    worked |= incoming_.release_held(loop_began_);
    worked |= lose_broken_peers();
    if (loop_began_ >= next_tick_) tick(loop_began_);
    if (worked) {
      last_work = loop_began_;
    } else if (loop_began_ - last_work > kLookBeforeSleep) {
      sleep();
    }
  }
  wind_up();
}

// If this process did not run for so long that its peers have given it up, gives them all up and returns true: they may have reused memory
// that UCX still lets this process read, so later messages cannot be trusted. Shorter pauses do not count towards the peers' timeouts.
bool UcxProgress::notice_own_stall() {
  TimePoint now = Clock::now();
  auto pause = now - loop_began_;
  loop_began_ = now;
  if (pause <= options_.heartbeat_interval * 2) return false;
  bool too_long = pause > options_.peer_timeout;
  for (Peer& peer : peers_) {
    peer.last_heard += pause;
    if (too_long && peer.info.rank != options_.rank) {
      mark_broken(peer, fmt::format("this process (rank {}) did not run for {:.1f} s, so {} has given it up", options_.rank, seconds(pause),
                                    peer.info.to_string()));
    }
  }
  return too_long;
}

bool UcxProgress::take_inbox() {
  ProgressInbox::Taken taken = inbox_.take();
  if (incoming_.receiver() == nullptr) incoming_.set_receiver(taken.receiver);
  for (auto& message : taken.messages) accept_outgoing(std::move(message));
  incoming_.hand_over_kept();
  return !taken.messages.empty();
}

bool UcxProgress::progress() {
  bool worked = false;
  for (int i = 0; i < 16 && ucx().ucp_worker_progress(worker_.get()) != 0; ++i) worked = true;
  return worked;
}

void UcxProgress::sleep() {
  if (!inbox_.begin_sleep(incoming_.receiver())) return;
  ucs_status_t status = ucx().ucp_worker_arm(worker_.get());
  if (status == UCS_OK) {
    TimePoint until = std::min(next_tick_, next_due());
    auto wait = std::max<Clock::duration>(until - Clock::now(), 0ns);
    // Free space in a shared-memory queue raises no event.
    if (!outgoing_pieces_.empty()) wait = std::min<Clock::duration>(wait, kLookForRoom);
    std::vector<pollfd> descriptors{{worker_.event_descriptor(), POLLIN, 0}};
    for (const Peer& peer : peers_) {
      if (peer.process.descriptor() >= 0 && !peer.ended_at) descriptors.push_back({peer.process.descriptor(), POLLIN, 0});
    }
    timespec timeout{};
    timeout.tv_sec = std::chrono::duration_cast<std::chrono::seconds>(wait).count();
    timeout.tv_nsec = (std::chrono::duration_cast<std::chrono::nanoseconds>(wait) % 1s).count();
    ppoll(descriptors.data(), descriptors.size(), &timeout, nullptr);
    bool any_ended = std::any_of(descriptors.begin() + 1, descriptors.end(), [](const pollfd& one) { return one.revents != 0; });
    if (any_ended) next_tick_ = Clock::now();
  }
  inbox_.end_sleep();
}

// When the bandwidth limit lets the next message pass.
UcxProgress::TimePoint UcxProgress::next_due() const {
  return holding_back_ ? std::min(incoming_.next_due(), limit_.free_at()) : incoming_.next_due();
}

void UcxProgress::tick(TimePoint now) {
  next_tick_ = now + options_.heartbeat_interval / 2;
  notice_ended_processes(now);
  free_closed();
  for (Peer& peer : peers_) {
    if (peer.lost || peer.endpoint == nullptr) continue;
    auto silent = now - peer.last_heard;
    if (silent > (peer.was_heard ? options_.peer_timeout : options_.connect_timeout)) {
      mark_broken(peer, fmt::format("{} has sent nothing for {:.1f} s: it has stopped, or the network to it is down", peer.info.to_string(),
                                    seconds(silent)));
    } else if (now - peer.last_sent >= options_.heartbeat_interval && peer.heartbeats_under_way == 0 && !cut_) {
      send_control(peer, kHeartbeatHandler);
    }
  }
  lose_broken_peers();
}

void UcxProgress::notice_ended_processes(TimePoint now) {
  for (Peer& peer : peers_) {
    if (peer.lost || peer.process.descriptor() < 0) continue;
    if (!peer.ended_at && peer.process.has_ended()) peer.ended_at = now;
    if (!peer.ended_at) continue;
    if (now - *peer.ended_at >= kDeadPeerDrainTime) {
      mark_broken(peer, fmt::format("{} has ended without a goodbye: it crashed or was killed", peer.info.to_string()));
    } else {
      next_tick_ = std::min(next_tick_, *peer.ended_at + kDeadPeerDrainTime);
    }
  }
}

void UcxProgress::mark_broken(Peer& peer, std::string why) {
  if (!peer.lost && peer.broken.empty()) peer.broken = std::move(why);
}

bool UcxProgress::lose_broken_peers() {
  bool any = false;
  for (Peer& peer : peers_) {
    if (peer.lost || peer.broken.empty()) continue;
    lose(peer, peer.broken);
    any = true;
  }
  return any;
}

void UcxProgress::lose(Peer& peer, std::string why) {
  peer.lost = true;
  peer.lost_because = why;
  peer.process.stop();
  close_endpoint(peer);
  std::exception_ptr error = std::make_exception_ptr(PeerError(peer.info.rank, "a message was not sent: " + why));
  abandon_pieces(peer, error);
  fail_waiting(peer, error);
  incoming_.drop_held(peer.info.rank);
  peer.assembly = {};
  incoming_.add_loss(peer.info.rank, std::move(why));
}

void UcxProgress::replace_peer(const RankInfo& info) {
  Peer& peer = peers_[static_cast<size_t>(info.rank)];
  if (info.incarnation <= peer.info.incarnation) return;
  if (!peer.lost) lose(peer, peer.broken.empty() ? fmt::format("{} was started again", peer.info.to_string()) : peer.broken);
  peer.info = info;
  peer.waiting.reset_turn();
  // What is still under way to the old process no longer counts (abandon_pieces).
  peer.pieces_under_way = 0;
  peer.bytes_under_way = 0;
  peer.heartbeats_under_way = 0;
  peer.last_heard = peer.last_sent = Clock::now();
  peer.was_heard = false;
  peer.ended_at.reset();
  peer.broken.clear();
  peer.lost = false;
  peer.lost_because.clear();
  ucs_status_t status = open_endpoint(peer);
  if (status != UCS_OK) mark_broken(peer, fmt::format("{} cannot be reached: {}", info.to_string(), ucx_text(status)));
  incoming_.add_replacement(info);
}

void UcxProgress::close_endpoint(Peer& peer) {
  if (peer.endpoint == nullptr) return;
  ucp_request_param_t parameters{};
  parameters.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  parameters.flags = UCP_EP_CLOSE_FLAG_FORCE;
  ucs_status_ptr_t request = ucx().ucp_ep_close_nbx(std::exchange(peer.endpoint, nullptr), &parameters);
  if (UCS_PTR_IS_PTR(request)) closing_.push_back(request);
}

void UcxProgress::abandon_pieces(const Peer& peer, const std::exception_ptr& error) {
  for (auto next = outgoing_pieces_.begin(); next != outgoing_pieces_.end();) {
    auto piece = next++;
    if (piece->peer != peer.info.rank) continue;
    piece->abandoned = true;
    abandoned_outgoing_.splice(abandoned_outgoing_.end(), outgoing_pieces_, piece);
    if (piece->message == nullptr) continue;
    if (piece->message->error == nullptr) piece->message->error = error;
    finish_outgoing(*piece->message);
  }
  for (auto next = incoming_pieces_.begin(); next != incoming_pieces_.end();) {
    auto piece = next++;
    if (piece->header.source != peer.info.rank) continue;
    piece->abandoned = true;
    abandoned_incoming_.splice(abandoned_incoming_.end(), incoming_pieces_, piece);
  }
}

void UcxProgress::wind_up() {
  auto progress_until = [&](auto patience, auto done) {
    TimePoint deadline = Clock::now() + patience;
    while (!done() && Clock::now() < deadline) {
      if (!progress()) std::this_thread::yield();
      lose_broken_peers();
    }
  };
  auto nothing_under_way = [&] { return outgoing_pieces_.empty() && incoming_pieces_.empty(); };

  take_inbox();
  leaving_ = true;
  incoming_.close();
  for (Peer& peer : peers_) {
    fail_waiting(peer, std::make_exception_ptr(Cancelled(fmt::format("stopped before a message to {} was sent", peer.info.to_string()))));
  }
  // A peer may still be reading the memory of pieces in flight; without this wait it would read whatever is allocated there next.
  progress_until(kPatienceForPieces, nothing_under_way);
  for (Peer& peer : peers_) {
    if (peer.endpoint != nullptr && peer.broken.empty() && !cut_) send_control(peer, kGoodbyeHandler);
  }
  progress_until(kPatienceForGoodbye, nothing_under_way);
  std::exception_ptr stopped = std::make_exception_ptr(Cancelled("the transport was stopped while a message was under way"));
  for (Peer& peer : peers_) {
    close_endpoint(peer);
    abandon_pieces(peer, stopped);
  }
  progress_until(kPatienceForPieces, [&] {
    free_closed();
    return closing_.empty();
  });
  end_inbox();
}

void UcxProgress::free_closed() {
  std::erase_if(closing_, [](void* request) {
    bool done = ucx().ucp_request_check_status(request) != UCS_INPROGRESS;
    if (done) ucx().ucp_request_free(request);
    return done;
  });
}

void UcxProgress::end_inbox() {
  for (const std::shared_ptr<OutgoingMessage>& message : inbox_.end()) {
    message->error = std::make_exception_ptr(Cancelled("the transport was stopped"));
    finish_outgoing(*message);
  }
}

}  // namespace pistachio
