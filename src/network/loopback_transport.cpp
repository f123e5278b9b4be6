#include "network/loopback_transport.h"

#include <fmt/format.h>

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "base/check.h"
#include "base/start_thread.h"
#include "network/message_limits.h"

namespace pistachio {
namespace {

using Clock = std::chrono::steady_clock;

struct Outgoing {
  int peer = 0;
  Message message;
  Transport::SentCallback on_sent;
};

struct Incoming {
  int source = 0;
  Message message;
  std::string lost_because;  // not empty: no message, the source is gone
};

void run_callback(const Transport::SentCallback& on_sent, std::exception_ptr error) {
  if (on_sent) on_sent(std::move(error));
}

}  // namespace

class LoopbackRank final : public Transport {
 public:
  using Peers = std::vector<std::unique_ptr<LoopbackRank>>;

  LoopbackRank(int rank, int ranks, const Peers& peers, LoopbackOptions options)
      : rank_(rank), count_(ranks), peers_(peers), options_(options), random_(options.seed * 1000003 + rank), links_(ranks), lost_(ranks) {
    thread_ = start_thread("a loopback transport", "use fewer ranks", [this] { run(); });
    thread_id_ = thread_.get_id();
  }
  ~LoopbackRank() override { stop(); }

  int rank() const override { return rank_; }
  int ranks() const override { return count_; }

  void start(MessageReceiver& receiver) override {
    std::lock_guard lock(mutex_);
    ENSURE(receiver_ == nullptr, "start() was called twice");
    receiver_ = &receiver;
    changed_.notify_one();
  }

  void stop() override;
  void send(int peer, Message message, SentCallback on_sent) override;

  TransportStatistics statistics() const override {
    std::lock_guard lock(mutex_);
    return statistics_;
  }

  void hold(int peer, bool held);
  // Queues what a peer sent, or that it is gone. A rank that vanishes is gone at once; one that leaves is gone after what it sent before.
  void deliver(Incoming incoming, bool at_once = false);

 private:
  struct Link {
    bool held = false;
    std::vector<Outgoing> waiting;
    std::string broken;  // why nothing can be sent any more, or empty
  };

  void run();
  void release(Link& link);  // with the lock held
  void transmit(Outgoing outgoing);
  void receive(Incoming incoming, MessageReceiver& receiver);
  void end();

  const int rank_;
  const int count_;
  const Peers& peers_;  // complete before the first send, never changed after
  const LoopbackOptions options_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  MessageReceiver* receiver_ = nullptr;
  std::deque<Outgoing> outgoing_;
  std::multimap<Clock::time_point, Incoming> incoming_;  // by the time of delivery
  std::mt19937_64 random_;
  std::vector<Link> links_;  // by peer
  TransportStatistics statistics_;
  bool stopping_ = false;
  bool ended_ = false;

  std::vector<bool> lost_;  // by peer: the receiver was told. Used by thread_ only.
  std::mutex joining_;      // stop() may be called by several threads
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
      outgoing_.push_back({peer, std::move(message), std::move(on_sent)});
      changed_.notify_one();
      return;
    }
  }
  run_callback(on_sent, std::make_exception_ptr(Cancelled("the transport was stopped")));
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
    Link& link = links_[incoming.source];
    if (link.broken.empty()) link.broken = incoming.lost_because;
    release(link);  // to fail
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
      if (!link.broken.empty()) {
        auto error = std::make_exception_ptr(PeerError(next.peer, "a message was not sent: " + link.broken));
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
      Clock::time_point next_delivery = incoming_.begin()->first;  // by value: another thread may change the map while this one waits
      changed_.wait_until(lock, next_delivery);
    } else {
      changed_.wait(lock);
    }
  }
  lock.unlock();
  end();
}

void LoopbackRank::transmit(Outgoing outgoing) {
  auto& [peer, message, on_sent] = outgoing;
  try {
    int64_t bytes = message_bytes(message);
    Incoming copy{rank_, {message.kind, message.head, {}}, {}};
    if (message.payload.defined()) {
      copy.message.payload = at::empty({message.payload.numel()}, at::kByte);
      if (message.payload.numel() > 0) {
        std::memcpy(copy.message.payload.mutable_data_ptr(), message.payload.const_data_ptr(), message.payload.numel());
      }
    }
    peers_[peer]->deliver(std::move(copy));
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
  auto& [source, message, lost_because] = incoming;
  if (lost_[source]) return;  // once lost, nothing more comes
  if (!lost_because.empty()) {
    lost_[source] = true;
    return receiver.on_peer_lost(source, std::move(lost_because));
  }
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
  for (const auto& peer : peers_) {
    if (peer != nullptr && peer.get() != this) peer->deliver({rank_, {}, fmt::format("rank {} has left the job", rank_)});
  }
}

LoopbackNetwork::LoopbackNetwork(int ranks, LoopbackOptions options) {
  ENSURE_GT(ranks, 0);
  ranks_.resize(ranks);
  for (int rank = 0; rank < ranks; ++rank) ranks_[rank] = std::make_unique<LoopbackRank>(rank, ranks, ranks_, options);
}

LoopbackNetwork::~LoopbackNetwork() {
  // All threads end before the first rank goes: each may still talk to the others.
  for (const auto& rank : ranks_) rank->stop();
}

Transport& LoopbackNetwork::transport(int rank) {
  return *ranks_.at(rank);
}

void LoopbackNetwork::lose(int rank) {
  for (int peer = 0; peer < static_cast<int>(ranks_.size()); ++peer) {
    if (peer == rank) continue;
    ranks_[peer]->deliver({rank, {}, fmt::format("rank {} was lost", rank)}, true);
    ranks_.at(rank)->deliver({peer, {}, fmt::format("rank {} was lost: this rank is cut off", peer)}, true);
  }
}

void LoopbackNetwork::hold(int from, int to, bool held) {
  ranks_.at(from)->hold(to, held);
}

}  // namespace pistachio
