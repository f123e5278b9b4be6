#include "network/ucx_progress.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "base/start_thread.h"
#include "network/frame.h"

namespace pistachio {
namespace {

using namespace std::chrono_literals;

// After work the thread polls for more before it sleeps: a reply often arrives sooner than sleeping and waking would take.
constexpr auto kPollBeforeSleep = 30us;
constexpr auto kRoomPollInterval = 50us;
// How long a stopping rank waits for pieces in flight and for its goodbye, which never completes if the peer is gone too.
constexpr auto kStopDrainTime = 2s;
constexpr auto kPatienceForGoodbye = 300ms;

}  // namespace

UcxProgress::UcxProgress(UcxOptions options)
    : options_(std::move(options)),
      inbox_(worker_),
      peers_(options_, worker_),
      incoming_(options_.rank, options_.link_bandwidth_limit, trace_),
      completion_(trace_),
      sending_(options_, loop_, peers_, completion_, incoming_),
      receiving_(options_, loop_, peers_, incoming_, worker_),
      context_(options_.ranks, options_.ucx_settings),
      worker_(context_) {
  ENSURE(options_.rank >= 0 && options_.rank < options_.ranks, "rank {} of {}", options_.rank, options_.ranks);
  ENSURE_GT(options_.piece_bytes, 0);
  if (worker_.largest_header() < sizeof(FrameHeader) + kLargestHead) {
    throw UserError(fmt::format("the transports UCX chose carry only {} bytes in front of a message; leave UCX_TLS at its default",
                                worker_.largest_header()));
  }
  receiving_.register_handlers();
}

void UcxProgress::connect(const std::vector<RankInfo>& job, const JobSecret& key, const std::vector<int>& lost) {
  TimePoint now = Clock::now();
  peers_.add(job, now);
  loop_.began = now;
  next_tick_ = now;
  sending_.add_peers(key);
  receiving_.add_peers(key);
  peers_.open_endpoints(lost);
  for (const UcxPeer& peer : peers_) {
    if (!peers_.crosses_network(peer)) incoming_.exempt(peer.info.rank);
    if (peer.lost) incoming_.add_loss(peer.info.rank, peer.lost_because);
  }
  thread_ = start_thread("the network", "raise the limit on processes (ulimit -u)", [this] { run(); });
  thread_id_ = thread_.get_id();
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
  return {completion_.messages(), incoming_.messages(), completion_.bytes(), incoming_.bytes()};
}

void UcxProgress::run() {
  TimePoint last_work = Clock::now();
  loop_.began = last_work;
  while (true) {
    TimePoint now = Clock::now();
    if (peers_.notice_own_pause(now - std::exchange(loop_.began, now))) lose_broken_peers();
    if (inbox_.is_stopping()) break;
    bool worked = take_inbox();
    worked |= sending_.begin_pieces();
    worked |= worker_.progress();
    worked |= incoming_.release_held(now);
    worked |= lose_broken_peers();
    if (now >= next_tick_) tick();
    if (worked) {
      last_work = now;
    } else if (now - last_work > kPollBeforeSleep) {
      sleep();
    }
  }
  wind_up();
}

bool UcxProgress::take_inbox() {
  ProgressInbox::Taken taken = inbox_.take();
  if (incoming_.receiver() == nullptr) incoming_.set_receiver(taken.receiver);
  for (auto& message : taken.messages) {
    if (message->replacement) {
      replace_peer(*message->replacement);
    } else {
      sending_.accept(std::move(message));
    }
  }
  incoming_.hand_over_kept();
  return !taken.messages.empty();
}

void UcxProgress::sleep() {
  if (!inbox_.begin_sleep(incoming_.receiver())) return;
  ucs_status_t status = ucx().ucp_worker_arm(worker_.get());
  if (status == UCS_OK) {
    TimePoint until = std::min({next_tick_, incoming_.next_due(), sending_.next_due()});
    auto wait = std::max<Clock::duration>(until - Clock::now(), 0ns);
    // Free space in a shared-memory queue raises no event.
    if (sending_.has_pieces_under_way()) wait = std::min<Clock::duration>(wait, kRoomPollInterval);
    std::vector<pollfd> descriptors{{worker_.event_descriptor(), POLLIN, 0}};
    for (const UcxPeer& peer : peers_) {
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

void UcxProgress::tick() {
  TimePoint now = loop_.began;
  next_tick_ = std::min(now + options_.heartbeat_interval / 2, peers_.notice_ended_processes(now));
  peers_.free_closed();
  for (UcxPeer& peer : peers_) {
    if (peer.lost || peer.endpoint == nullptr) continue;
    if (peers_.notice_silence(peer, now)) continue;
    if (now - peer.last_sent >= options_.heartbeat_interval) sending_.send_heartbeat(peer.info.rank);
  }
  lose_broken_peers();
}

bool UcxProgress::lose_broken_peers() {
  bool any = false;
  for (UcxPeer& peer : peers_) {
    if (peer.lost || peer.broken.empty()) continue;
    lose(peer);
    any = true;
  }
  return any;
}

void UcxProgress::lose(UcxPeer& peer) {
  int rank = peer.info.rank;
  peers_.lose(peer);
  std::exception_ptr error = peer.not_sent_error();
  sending_.abandon_pieces(rank, error);
  receiving_.abandon_pieces(rank);
  sending_.fail_waiting(rank, error);
  incoming_.drop_held(rank);
  receiving_.drop_incomplete(rank);
  incoming_.add_loss(rank, peer.lost_because);
}

void UcxProgress::replace_peer(const RankInfo& info) {
  UcxPeer& peer = peers_[info.rank];
  if (info.incarnation <= peer.info.incarnation) return;
  if (!peer.lost) {
    peer.mark_broken(fmt::format("{} was started again", peer.info.to_string()));
    lose(peer);
  }
  sending_.forget_pieces(info.rank);
  peers_.replace(info);
  incoming_.add_replacement(info);
}

void UcxProgress::wind_up() {
  auto progress_until = [&](auto timeout, auto done) {
    TimePoint deadline = Clock::now() + timeout;
    while (!done() && Clock::now() < deadline) {
      if (!worker_.progress()) std::this_thread::yield();
      lose_broken_peers();
    }
  };
  auto nothing_under_way = [&] { return !sending_.has_pieces_under_way() && !receiving_.has_pieces_under_way(); };

  take_inbox();
  receiving_.close();
  incoming_.close();
  for (const UcxPeer& peer : peers_) {
    std::string why = fmt::format("stopped before a message to {} was sent", peer.info.to_string());
    sending_.fail_waiting(peer.info.rank, std::make_exception_ptr(Cancelled(why)));
  }
  // A peer may still be reading the memory of pieces in flight; without this wait it would read whatever is allocated there next.
  progress_until(kStopDrainTime, nothing_under_way);
  for (const UcxPeer& peer : peers_) {
    if (peer.endpoint != nullptr && peer.broken.empty()) sending_.send_goodbye(peer.info.rank);
  }
  progress_until(kPatienceForGoodbye, nothing_under_way);
  std::exception_ptr stopped = std::make_exception_ptr(Cancelled("the transport was stopped while a message was under way"));
  for (UcxPeer& peer : peers_) {
    peers_.close_endpoint(peer);
    sending_.abandon_pieces(peer.info.rank, stopped);
    receiving_.abandon_pieces(peer.info.rank);
  }
  progress_until(kStopDrainTime, [&] { return peers_.free_closed(); });
  end_inbox();
}

void UcxProgress::end_inbox() {
  for (const std::shared_ptr<OutgoingMessage>& message : inbox_.end()) {
    completion_.fail(*message, std::make_exception_ptr(Cancelled("the transport was stopped")));
  }
}

}  // namespace pistachio
