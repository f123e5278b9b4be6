#include "network/rendezvous.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <random>
#include <thread>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "base/error.h"
#include "network/rank_card.h"
#include "network/reach_address.h"

namespace pistachio {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::string random_secret() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", device(), device(), device(), device());
}

std::string card_key(int rank) {
  return fmt::format("rank/{}", rank);
}

std::string unreachable(const JobIdentity& identity, const std::string& why) {
  return fmt::format("rank {} cannot reach rank 0 at {}:{}: {}; are MASTER_ADDR and MASTER_PORT right, and is rank 0 running?",
                     identity.rank, identity.master_address, identity.master_port, why);
}

}  // namespace

// c10d's store with our keys, our deadline and our errors.
class RendezvousStore {
 public:
  RendezvousStore(const JobIdentity& identity, std::chrono::milliseconds timeout, std::function<void()> while_waiting)
      : prefix_(fmt::format("pistachio/{}/", identity.attempt)),
        while_waiting_(std::move(while_waiting)),
        deadline_(Clock::now() + timeout) {
    listens_ = identity.rank == 0 && !identity.launcher_has_store;
    c10d::TCPStoreOptions options;
    options.port = static_cast<uint16_t>(identity.master_port);
    options.isServer = listens_;
    options.waitWorkers = false;
    options.timeout = timeout;
    std::string address = listens_ ? "127.0.0.1" : identity.master_address;  // the server listens on all addresses
    if (!listens_) {
      std::string wrong = reach_address(identity.master_address, identity.master_port, deadline_);
      if (!wrong.empty()) throw UserError(unreachable(identity, wrong));
    }
    try {
      store_ = c10::make_intrusive<c10d::TCPStore>(address, options);
    } catch (const std::exception& problem) {
      if (listens_) {
        throw UserError(fmt::format("rank 0 cannot listen on port {}: {}; set MASTER_PORT to a free one", identity.master_port,
                                    first_line(problem.what())));
      }
      throw UserError(unreachable(identity, first_line(problem.what())));
    }
  }

  bool listens() const { return listens_; }
  int port() const { return store_->getPort(); }

  void put(const std::string& key, const std::string& value) {
    talk([&] { store_->set(prefix_ + key, std::vector<uint8_t>(value.begin(), value.end())); });
  }
  std::string get(const std::string& key) {
    std::string value;
    talk([&] {
      std::vector<uint8_t> bytes = store_->get(prefix_ + key);
      value.assign(bytes.begin(), bytes.end());
    });
    return value;
  }
  int64_t count(const std::string& key) {
    int64_t value = 0;
    talk([&] { value = store_->add(prefix_ + key, 1); });
    return value;
  }
  bool has(const std::string& key) {
    bool there = false;
    talk([&] { there = store_->check({prefix_ + key}); });
    return there;
  }
  // False: the time was up. Asks again and again: c10d's own waiting fills the terminal when it takes long.
  bool wait_for(const std::vector<std::string>& keys) {
    std::vector<std::string> full;
    for (const std::string& key : keys) full.push_back(prefix_ + key);
    std::chrono::milliseconds pause = 2ms;
    while (true) {
      bool there = false;
      talk([&] { there = store_->check(full); });
      if (there) return true;
      if (has(kRefusal)) throw UserError(get(kRefusal));
      if (while_waiting_) watch();
      if (Clock::now() >= deadline_) return false;
      std::this_thread::sleep_for(pause);
      pause = std::min(pause * 2, kLongestPause);
    }
  }
  // All who wait end with this. The one that keeps the store must not take it away before the others have seen why.
  void refuse_all(const std::string& why) {
    put(kRefusal, why);
    if (listens_) std::this_thread::sleep_for(kLongestPause * 5);
  }

 private:
  static constexpr const char* kRefusal = "refusal";
  static constexpr std::chrono::milliseconds kLongestPause{100};

  void watch() {
    try {
      while_waiting_();
    } catch (const std::exception& problem) {
      if (listens_) refuse_all(problem.what());
      throw;
    }
  }

  template <typename Work>
  void talk(Work work) {
    try {
      work();
    } catch (const std::exception& problem) {
      throw UserError(
          fmt::format("the connection to rank 0 broke while the ranks met: {}; see what rank 0 says", first_line(problem.what())));
    }
  }

  std::string prefix_;
  std::function<void()> while_waiting_;
  Clock::time_point deadline_;
  bool listens_ = false;
  c10::intrusive_ptr<c10d::TCPStore> store_;
};

Rendezvous::Rendezvous(JobIdentity identity, RendezvousOptions options) : identity_(std::move(identity)), options_(std::move(options)) {
  store_ = std::make_unique<RendezvousStore>(identity_, options_.timeout, options_.while_waiting);
}

Rendezvous::~Rendezvous() = default;

int Rendezvous::port() const {
  return store_->port();
}

// A rank of a job of another size would be waited for in vain, or never be asked.
void Rendezvous::compare_sizes() {
  if (identity_.rank == 0 || !store_->wait_for({"ranks"})) return;
  std::string ranks = store_->get("ranks");
  if (ranks == std::to_string(identity_.ranks)) return;
  std::string why = fmt::format(
      "rank {} was started for a job of {} ranks, rank 0 at {}:{} for one of {}: WORLD_SIZE must be the same for all, "
      "and each job needs a MASTER_PORT of its own",
      identity_.rank, identity_.ranks, identity_.master_address, identity_.master_port, ranks);
  store_->refuse_all(why);
  throw UserError(why);
}

Meeting Rendezvous::meet(const std::string& address) {
  int rank = identity_.rank;
  if (store_->count(fmt::format("claim/{}", rank)) > 1) {
    throw UserError(
        fmt::format("two processes say they are rank {}: each must have a RANK of its own, and each job a MASTER_PORT (here {})", rank,
                    identity_.master_port));
  }
  if (rank == 0) {
    store_->put("secret", random_secret());
    store_->put("ranks", std::to_string(identity_.ranks));
  }
  compare_sizes();
  RankCard own = card_of_this_process(options_.host);
  own.version = options_.version;
  own.settings = options_.settings;
  own.info.address = address;
  store_->put(card_key(rank), pack_card(own));

  std::vector<std::string> keys;
  for (int peer = 0; peer < identity_.ranks; ++peer) keys.push_back(card_key(peer));
  keys.push_back("secret");
  if (!store_->wait_for(keys)) {
    std::vector<int> missing;
    for (int peer = 0; peer < identity_.ranks; ++peer) {
      if (!store_->has(card_key(peer))) missing.push_back(peer);
    }
    std::string why = fmt::format("after {} s {} of {} ranks are missing: {}; see what those say, or whether they were started",
                                  options_.timeout.count() / 1000, missing.size(), identity_.ranks, fmt::join(missing, ", "));
    if (store_->listens()) store_->refuse_all(why);
    throw UserError(why);
  }
  std::vector<std::string> bytes;
  for (int peer = 0; peer < identity_.ranks; ++peer) bytes.push_back(store_->get(card_key(peer)));
  std::string secret = store_->get("secret");

  // The store must live until all have read it, also when they are about to find that they do not fit.
  if (store_->count("met") == identity_.ranks) store_->put("all_met", "yes");
  if (store_->listens()) store_->wait_for({"all_met"});

  std::vector<RankCard> cards;
  for (int peer = 0; peer < identity_.ranks; ++peer) cards.push_back(unpack_card(peer, bytes[peer]));
  compare_cards(cards);
  return {number_hosts(cards), std::move(secret)};
}

}  // namespace pistachio
