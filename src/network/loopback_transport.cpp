#include "network/loopback_transport.h"

#include <fmt/format.h>

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <thread>

#include "base/check.h"
#include "base/start_thread.h"
#include "kernels/ops/tensor_functions.h"
#include "network/message_limits.h"
#include "network/message_trace.h"

namespace pistachio {
namespace {

using Clock = std::chrono::steady_clock;

struct Outgoing {
  int peer = 0;
  int incarnation = 0;  // of the intended receiver
  Message message;
  Transport::SentCallback on_sent;
};

struct Incoming {
  int source = 0;
  int incarnation = 0;  // of the source
  Message message;
  std::string lost_because;             // not empty: not a message, but the loss of the source
  std::optional<RankInfo> replacement;  // likewise: the source has a new process
};

void run_callback(const Transport::SentCallback& on_sent, std::exception_ptr error) {
  if (on_sent) on_sent(std::move(error));
}

}  // namespace

class LoopbackRank final : public Transport {
 public:
  LoopbackRank(int rank, std::vector<int> incarnations, const LoopbackDirectory& directory, LoopbackOptions options)
      : rank_(rank),
        count_(static_cast<int>(incarnations.size())),
        incarnation_(incarnations[static_cast<size_t>(rank)]),
        directory_(directory),
        options_(options),
        random_(options.seed * 1000003 + rank),
        links_(incarnations.size()),
        lost_(incarnations.size()),
        known_(std::move(incarnations)) {
    for (size_t peer = 0; peer < links_.size(); ++peer) links_[peer].incarnation = known_[peer];
    thread_ = start_thread("a loopback transport", "use fewer ranks", [this] { run(); });
    thread_id_ = thread_.get_id();
  }
  ~LoopbackRank() override { stop(); }

  int rank() const override { return rank_; }
  int ranks() const override { return count_; }
  int incarnation() const { return incarnation_; }

  void start(MessageReceiver& receiver) override {
    std::lock_guard lock(mutex_);
    ENSURE(receiver_ == nullptr, "start() was called twice");
    receiver_ = &receiver;
    changed_.notify_one();
  }

  void stop() override;
  void send(int peer, Message message, SentCallback on_sent) override;
  void replace(RankInfo peer) override;
  void cut() override;
  std::string recent_messages() const override { return trace_.to_text(); }

  TransportStatistics statistics() const override {
    std::lock_guard lock(mutex_);
    return statistics_;
  }

  void hold(int peer, bool held);
  // Queues a message or the loss of a peer. A rank that vanishes is lost at once; one that leaves, after its earlier messages.
  void deliver(Incoming incoming, bool at_once = false);

 private:
  struct Link {
    bool held = false;
    std::vector<Outgoing> waiting;
    std::string broken;   // why nothing can be sent; empty if it can
    int incarnation = 0;  // of the receiving peer
  };

  void run();
  void release(Link& link);  // needs the lock
  void transmit(Outgoing outgoing);
  void receive(Incoming incoming, MessageReceiver& receiver);
  void end();

  const int rank_;
  const int count_;
  const int incarnation_;
  const LoopbackDirectory& directory_;
  const LoopbackOptions options_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  MessageReceiver* receiver_ = nullptr;
  std::deque<Outgoing> outgoing_;
  std::multimap<Clock::time_point, Incoming> incoming_;  // by delivery time
  std::mt19937_64 random_;
  std::vector<Link> links_;  // by peer
  TransportStatistics statistics_;
  bool stopping_ = false;
  bool ended_ = false;

  MessageTrace trace_;
  // By peer, used by thread_ only.
  std::vector<bool> lost_;  // the receiver was notified
  std::vector<int> known_;  // incarnation whose messages are accepted

  std::mutex joining_;  // stop() may be called by several threads
  std::thread thread_;
  std::atomic<std::thread::id> thread_id_;
};

void LoopbackRank::stop() {
  ENSURE(std::this_thread::get_id() != thread_id_.load(), "stop() was called by the receiver");
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_one();
  }
  std::lock_guard lock(joining_);
  if (thread_.joinable()) thread_.join();
}

void LoopbackRank::send(int peer, Message message, SentCallback on_sent) {
  check_message(message, peer, count_);
  {
    std::lock_guard lock(mutex_);
    if (!ended_) {
      outgoing_.push_back({peer, links_[static_cast<size_t>(peer)].incarnation, std::move(message), std::move(on_sent)});
      changed_.notify_one();
      return;
    }
  }
  run_callback(on_sent, std::make_exception_ptr(Cancelled("the transport was stopped")));
}

void LoopbackRank::replace(RankInfo peer) {
  {
    std::lock_guard lock(mutex_);
    Link& link = links_.at(static_cast<size_t>(peer.rank));
    if (peer.incarnation <= link.incarnation) return;
    link.incarnation = peer.incarnation;
    link.broken.clear();
    release(link);  // they fail: they were meant for the old process
  }
  deliver({peer.rank, peer.incarnation, {}, {}, peer}, true);
}

// No timeout has to pass first.
void LoopbackRank::cut() {
  for (const std::shared_ptr<LoopbackRank>& peer : directory_.all()) {
    if (peer.get() == this) continue;
    peer->deliver({rank_, incarnation_, {}, fmt::format("rank {} has fallen silent", rank_), {}}, true);
    deliver({peer->rank(), peer->incarnation(), {}, fmt::format("rank {} has fallen silent", peer->rank()), {}}, true);
  }
}

void LoopbackRank::hold(int peer, bool held) {
  std::lock_guard lock(mutex_);
  Link& link = links_[peer];
  link.held = held;
  if (!held) release(link);
}

void LoopbackRank::release(Link& link) {
  outgoing_.insert(outgoing_.begin(), std::make_move_iterator(link.waiting.begin()), std::make_move_iterator(link.waiting.end()));
  link.waiting.clear();
  changed_.notify_one();
}

void LoopbackRank::deliver(Incoming incoming, bool at_once) {
  std::lock_guard lock(mutex_);
  if (ended_) return;
  bool leaves = !incoming.lost_because.empty();
  if (leaves) {
    Link& link = links_[static_cast<size_t>(incoming.source)];
    if (incoming.incarnation < link.incarnation) return;  // its successor is already known
    if (link.broken.empty()) link.broken = incoming.lost_because;
    release(link);  // they fail
  }
  Clock::time_point when{};
  if (!at_once && options_.largest_delay.count() > 0) {
    int64_t most = options_.largest_delay.count();
    int64_t delay = leaves ? most + 1 : std::uniform_int_distribution<int64_t>(0, most)(random_);
    when = Clock::now() + std::chrono::microseconds(delay);
  }
  auto item = std::make_pair(when, std::move(incoming));
  if (at_once) {
    incoming_.insert(incoming_.begin(), std::move(item));  // before others of the same time
  } else {
    incoming_.insert(std::move(item));
  }
  changed_.notify_one();
}

void LoopbackRank::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (!outgoing_.empty()) {
      Outgoing next = std::move(outgoing_.front());
      outgoing_.pop_front();
      Link& link = links_[next.peer];
      if (!link.broken.empty() || next.incarnation != link.incarnation) {
        std::string why = link.broken.empty() ? fmt::format("rank {} was started again", next.peer) : link.broken;
        auto error = std::make_exception_ptr(PeerError(next.peer, "a message was not sent: " + why));
        lock.unlock();
        run_callback(next.on_sent, error);
        lock.lock();
        continue;
      }
      if (link.held) {
        link.waiting.push_back(std::move(next));
        continue;
      }
      lock.unlock();
      transmit(std::move(next));
      lock.lock();
    }
    if (receiver_ != nullptr && !incoming_.empty() && incoming_.begin()->first <= Clock::now()) {
      Incoming next = std::move(incoming_.begin()->second);
      incoming_.erase(incoming_.begin());
      MessageReceiver& receiver = *receiver_;
      lock.unlock();
      receive(std::move(next), receiver);
      lock.lock();
      continue;
    }
    if (stopping_ || !outgoing_.empty()) continue;
    if (receiver_ != nullptr && !incoming_.empty()) {
      Clock::time_point next_delivery = incoming_.begin()->first;  // a copy: other threads may change the map while this one waits
      changed_.wait_until(lock, next_delivery);
    } else {
      changed_.wait(lock);
    }
  }
  lock.unlock();
  end();
}

void LoopbackRank::transmit(Outgoing outgoing) {
  auto& [peer, incarnation, message, on_sent] = outgoing;
  try {
    int64_t bytes = message_bytes(message);
    Incoming copy{rank_, incarnation_, {message.kind, message.head, {}}, {}, {}};
    if (message.payload.defined()) {
      copy.message.payload = at::empty({message.payload.numel()}, at::kByte);
      if (message.payload.numel() > 0) {
        std::memcpy(copy.message.payload.mutable_data_ptr(), message.payload.const_data_ptr(), message.payload.numel());
      }
    }
    trace_.record(MessageDirection::Sent, peer, message.kind, bytes);
    std::shared_ptr<LoopbackRank> receiver = directory_.at(peer);
    if (receiver->incarnation() == incarnation) receiver->deliver(std::move(copy));
    message = {};
    std::lock_guard lock(mutex_);
    statistics_.messages_sent += 1;
    statistics_.bytes_sent += bytes;
  } catch (...) {
    return run_callback(on_sent, std::current_exception());
  }
  run_callback(on_sent, nullptr);
}

void LoopbackRank::receive(Incoming incoming, MessageReceiver& receiver) {
  auto& [source, incarnation, message, lost_because, replacement] = incoming;
  auto place = static_cast<size_t>(source);
  if (replacement) {
    if (!lost_[place]) receiver.on_peer_lost(source, fmt::format("rank {} was started again", source));
    lost_[place] = false;
    known_[place] = incarnation;
    return receiver.on_peer_replaced(*replacement);
  }
  if (lost_[place] || incarnation != known_[place]) return;  // no messages after a loss
  if (!lost_because.empty()) {
    lost_[place] = true;
    return receiver.on_peer_lost(source, std::move(lost_because));
  }
  trace_.record(MessageDirection::Received, source, message.kind, message_bytes(message));
  {
    std::lock_guard lock(mutex_);
    statistics_.messages_received += 1;
    statistics_.bytes_received += message_bytes(message);
  }
  receiver.on_message(source, std::move(message));
}

void LoopbackRank::end() {
  std::vector<Outgoing> dropped;
  {
    std::lock_guard lock(mutex_);
    ended_ = true;
    incoming_.clear();
    std::move(outgoing_.begin(), outgoing_.end(), std::back_inserter(dropped));
    outgoing_.clear();
    for (Link& link : links_) {
      std::move(link.waiting.begin(), link.waiting.end(), std::back_inserter(dropped));
      link.waiting.clear();
    }
  }
  for (const Outgoing& one : dropped) {
    run_callback(one.on_sent, std::make_exception_ptr(Cancelled(fmt::format("stopped before a message to rank {} was sent", one.peer))));
  }
  for (const auto& peer : directory_.all()) {
    if (peer != nullptr && peer.get() != this && peer->rank() != rank_)
      peer->deliver({rank_, incarnation_, {}, fmt::format("rank {} has left the job", rank_), {}});
  }
}

std::shared_ptr<LoopbackRank> LoopbackDirectory::at(int rank) const {
  std::lock_guard lock(mutex_);
  return ranks_.at(static_cast<size_t>(rank));
}

std::vector<std::shared_ptr<LoopbackRank>> LoopbackDirectory::all() const {
  std::lock_guard lock(mutex_);
  return ranks_;
}

std::shared_ptr<LoopbackRank> LoopbackDirectory::put(int rank, std::shared_ptr<LoopbackRank> process) {
  std::lock_guard lock(mutex_);
  return std::exchange(ranks_.at(static_cast<size_t>(rank)), std::move(process));
}

LoopbackNetwork::LoopbackNetwork(int ranks, LoopbackOptions options)
    : options_(options), directory_(ranks), lost_(static_cast<size_t>(ranks)) {
  ENSURE_GT(ranks, 0);
  std::vector<int> incarnations(static_cast<size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank)
    directory_.put(rank, std::make_shared<LoopbackRank>(rank, incarnations, directory_, options_));
}

LoopbackNetwork::~LoopbackNetwork() {
  // Stop all threads before the first rank is destroyed: each may still access the others.
  for (const auto& rank : directory_.all()) rank->stop();
}

Transport& LoopbackNetwork::transport(int rank) {
  return *directory_.at(rank);
}

void LoopbackNetwork::lose(int rank) {
  lost_.at(static_cast<size_t>(rank)) = true;
  std::shared_ptr<LoopbackRank> victim = directory_.at(rank);
  for (const std::shared_ptr<LoopbackRank>& peer : directory_.all()) {
    if (peer == victim) continue;
    peer->deliver({rank, victim->incarnation(), {}, fmt::format("rank {} was lost", rank), {}}, true);
    victim->deliver({peer->rank(), peer->incarnation(), {}, fmt::format("rank {} was lost: this rank is cut off", peer->rank()), {}}, true);
  }
}

RankInfo LoopbackNetwork::restart(int rank) {
  std::vector<int> incarnations;
  for (const std::shared_ptr<LoopbackRank>& peer : directory_.all()) incarnations.push_back(peer->incarnation());
  int incarnation = ++incarnations[static_cast<size_t>(rank)];
  auto fresh = std::make_shared<LoopbackRank>(rank, incarnations, directory_, options_);
  lost_[static_cast<size_t>(rank)] = false;
  for (size_t peer = 0; peer < lost_.size(); ++peer) {
    if (!lost_[peer]) continue;
    fresh->deliver({static_cast<int>(peer), incarnations[peer], {}, fmt::format("rank {} was lost before this rank joined", peer), {}});
  }
  std::shared_ptr<LoopbackRank> old = directory_.put(rank, fresh);
  old->stop();
  replaced_.push_back(std::move(old));
  RankInfo info;
  info.rank = rank;
  info.incarnation = incarnation;
  return info;
}

void LoopbackNetwork::hold(int from, int to, bool held) {
  directory_.at(from)->hold(to, held);
}

}  // namespace pistachio
