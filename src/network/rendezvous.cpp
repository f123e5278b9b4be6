#include "network/rendezvous.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <thread>

#include "base/byte_stream.h"
#include "base/check.h"
#include "base/error.h"
#include "network/launcher_store.h"
#include "network/meeting_store.h"
#include "network/reach_address.h"

namespace pistachio {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

std::string card_key(int rank) {
  return fmt::format("rank/{}", rank);
}

std::string return_key(int rank, int incarnation) {
  return fmt::format("return/{}/{}", rank, incarnation);
}

std::string answer_key(int rank, int incarnation) {
  return fmt::format("answer/{}/{}", rank, incarnation);
}

// Rank 0's answer to a restarted rank.
struct ReturnAnswer {
  std::string refusal;  // empty: admitted
  std::string nonce;
  std::vector<std::string> cards;  // packed
  std::vector<int> lost;
  int64_t first_query = 0;

  std::string to_bytes() const {
    ByteWriter writer;
    writer.put_text(refusal);
    writer.put_text(nonce);
    writer.put(first_query);
    writer.put<uint64_t>(lost.size());
    for (int rank : lost) writer.put<int32_t>(rank);
    for (const std::string& card : cards) writer.put_text(card);
    return writer.take();
  }
  static ReturnAnswer of(const std::string& bytes) {
    ByteReader reader(bytes);
    ReturnAnswer answer;
    answer.refusal = reader.get_text();
    answer.nonce = reader.get_text();
    answer.first_query = reader.get<int64_t>();
    size_t lost = reader.get_count(sizeof(int32_t));
    for (size_t i = 0; i < lost; ++i) answer.lost.push_back(reader.get<int32_t>());
    while (reader.left() > 0) answer.cards.push_back(reader.get_text());
    return answer;
  }
};

std::string unreachable(const JobIdentity& identity, const std::string& why) {
  return fmt::format("rank {} cannot reach rank 0 at {}:{}: {}; are MASTER_ADDR and MASTER_PORT right, and is rank 0 running?",
                     identity.rank, identity.master_address, identity.master_port, why);
}

}  // namespace

// The store with our key names, timeout and errors.
class RendezvousStore {
 public:
  RendezvousStore(const JobIdentity& identity, const RendezvousOptions& options)
      : prefix_(fmt::format("pistachio/{}/", identity.attempt)), options_(options), begin_(Clock::now()), deadline_(begin_ + options.timeout) {
    if (identity.rank == 0) {
      // torchrun's own store occupies the port.
      server_ = std::make_unique<RendezvousServer>(identity.launcher_has_store ? 0 : identity.master_port, options_.secret);
      if (identity.launcher_has_store) publish_meeting_port(identity, options_.secret, server_->port(), launcher_options());
      client_ = std::make_unique<RendezvousClient>("127.0.0.1", server_->port(), options_.secret, deadline_);
      return;
    }
    int port = identity.master_port;
    if (identity.launcher_has_store) {
      LauncherStoreOptions waiting = launcher_options();
      waiting.while_waiting = [&] { watch([] { return "rank 0 to enter its port into torchrun's store"; }); };
      port = find_meeting_port(identity, options_.secret, waiting);
    }
    auto after_attempt = [&](const std::string& wrong) {
      watch([&] { return fmt::format("rank 0 at {}:{} ({})", identity.master_address, port, wrong); });
    };
    std::string wrong = reach_address(identity.master_address, port, deadline_, after_attempt);
    if (!wrong.empty()) throw UserError(unreachable(identity, wrong));
    try {
      client_ = std::make_unique<RendezvousClient>(identity.master_address, port, options_.secret, deadline_);
    } catch (const UserError& problem) {
      throw UserError(unreachable(identity, problem.message()));
    }
  }

  bool listens() const { return server_ != nullptr; }
  int port() const { return server_->port(); }

  void put(const std::string& key, const std::string& value) {
    talk([&] { client_->put(prefix_ + key, value); });
  }
  std::string get(const std::string& key) {
    std::optional<std::string> value;
    talk([&] { value = client_->get(prefix_ + key); });
    ENSURE(value.has_value(), "the key {} is not there", key);
    return *value;
  }
  int64_t count(const std::string& key, int64_t more = 1) {
    int64_t value = 0;
    talk([&] { value = client_->add(prefix_ + key, more); });
    return value;
  }
  bool has(const std::string& key) {
    bool there = false;
    talk([&] { there = client_->has_all({prefix_ + key}); });
    return there;
  }
  // False on timeout. `for_what` describes what is missing, for the notice.
  template <typename ForWhat>
  bool wait_for(const std::vector<std::string>& keys, ForWhat for_what) {
    std::vector<std::string> full;
    for (const std::string& key : keys) full.push_back(prefix_ + key);
    std::chrono::milliseconds pause = 2ms;
    while (true) {
      bool there = false;
      talk([&] { there = client_->has_all(full); });
      if (there) return true;
      if (has(kRefusal)) {
        std::string why = get(kRefusal);
        if (listens()) let_others_see();
        throw UserError(why);
      }
      watch(for_what);
      if (Clock::now() >= deadline_) return false;
      std::this_thread::sleep_for(pause);
      pause = std::min(pause * 2, kLongestPause);
    }
  }
  // Makes every waiting rank fail with this error.
  void refuse_all(const std::string& why) {
    put(kRefusal, why);
    if (listens()) let_others_see();
  }

 private:
  static constexpr const char* kRefusal = "refusal";
  static constexpr std::chrono::milliseconds kLongestPause{100};

  // The rank that serves the store must not close it before the others have read the reason.
  static void let_others_see() { std::this_thread::sleep_for(kLongestPause * 5); }

  LauncherStoreOptions launcher_options() const { return {options_.timeout, options_.while_waiting}; }

  template <typename ForWhat>
  void watch(ForWhat for_what) {
    try {
      if (options_.while_waiting) options_.while_waiting();
    } catch (const std::exception& problem) {
      if (listens()) refuse_all(problem.what());
      throw;
    }
    if (!options_.notice || notice_was_given_ || Clock::now() < begin_ + options_.notice_after) return;
    notice_was_given_ = true;
    options_.notice(fmt::format("waiting for {}; giving up in {} s", for_what(),
                                std::chrono::duration_cast<std::chrono::seconds>(deadline_ - Clock::now()).count()));
  }

  template <typename Work>
  void talk(Work work) {
    try {
      work();
    } catch (const std::exception& problem) {
      throw UserError(
          fmt::format("the connection to rank 0 broke while the ranks met: {}; see the output of rank 0", problem.what()));
    }
  }

  std::string prefix_;
  const RendezvousOptions options_;
  const Clock::time_point begin_;
  const Clock::time_point deadline_;
  bool notice_was_given_ = false;
  std::unique_ptr<RendezvousServer> server_;  // first rank only
  std::unique_ptr<RendezvousClient> client_;
};

Rendezvous::Rendezvous(JobIdentity identity, RendezvousOptions options) : identity_(std::move(identity)), options_(std::move(options)) {
  store_ = std::make_unique<RendezvousStore>(identity_, options_);
}

Rendezvous::~Rendezvous() = default;

int Rendezvous::port() const {
  return store_->port();
}

// A rank of a job of another size would wait forever or never be awaited.
void Rendezvous::compare_sizes() {
  if (identity_.rank == 0 || !store_->wait_for({"ranks"}, [] { return "rank 0"; })) return;
  std::string ranks = store_->get("ranks");
  if (ranks == std::to_string(identity_.ranks)) return;
  std::string why = fmt::format(
      "rank {} was started for a job of {} ranks, rank 0 at {}:{} for one of {}: WORLD_SIZE must be the same for all, "
      "and each job needs a MASTER_PORT of its own",
      identity_.rank, identity_.ranks, identity_.master_address, identity_.master_port, ranks);
  store_->refuse_all(why);
  throw UserError(why);
}

RankCard Rendezvous::own_card(const std::string& address, int incarnation) const {
  RankCard card = card_of_this_process(options_.host);
  card.version = options_.version;
  card.settings = options_.settings;
  card.info.rank = identity_.rank;
  card.info.address = address;
  card.info.incarnation = incarnation;
  return card;
}

Meeting Rendezvous::rejoin(const std::string& address, int incarnation) {
  int rank = identity_.rank;
  store_->put(return_key(rank, incarnation), pack_card(own_card(address, incarnation)));
  std::string key = answer_key(rank, incarnation);
  if (!store_->wait_for({key}, [] { return "rank 0 to let this one in again"; })) {
    throw UserError(fmt::format("rank {} was restarted, but rank 0 has not admitted it for {} s: the job counts rank {} as running", rank,
                                options_.timeout.count() / 1000, rank));
  }
  ReturnAnswer answer = ReturnAnswer::of(store_->get(key));
  if (!answer.refusal.empty()) throw UserError(answer.refusal);
  std::vector<RankCard> cards;
  for (const std::string& card : answer.cards) cards.push_back(unpack_card(static_cast<int>(cards.size()), card));
  return {number_hosts(cards), options_.secret.for_job(answer.nonce), std::move(answer.lost), answer.first_query};
}

std::optional<RankCard> Rendezvous::find_return(int rank) {
  auto place = static_cast<size_t>(rank);
  int newest = static_cast<int>(store_->count(fmt::format("claim/{}", rank), 0)) - 1;
  if (newest <= cards_.at(place).info.incarnation || !store_->has(return_key(rank, newest))) return std::nullopt;
  return unpack_card(rank, store_->get(return_key(rank, newest)));
}

RankInfo Rendezvous::check_return(const RankCard& card) {
  std::vector<RankCard> cards = cards_;
  cards.at(static_cast<size_t>(card.info.rank)) = card;
  compare_cards(cards);
  return number_hosts(cards).at(static_cast<size_t>(card.info.rank));
}

void Rendezvous::welcome(const RankCard& card, const std::vector<int>& lost, int64_t first_query) {
  cards_.at(static_cast<size_t>(card.info.rank)) = card;
  ReturnAnswer answer{.refusal = "", .nonce = nonce_, .cards = {}, .lost = lost, .first_query = first_query};
  for (const RankCard& own : cards_) answer.cards.push_back(pack_card(own));
  store_->put(answer_key(card.info.rank, card.info.incarnation), answer.to_bytes());
}

void Rendezvous::refuse_return(const RankCard& card, const std::string& why) {
  // Marks the card as answered.
  cards_.at(static_cast<size_t>(card.info.rank)).info.incarnation = card.info.incarnation;
  ReturnAnswer answer;
  answer.refusal = why;
  store_->put(answer_key(card.info.rank, card.info.incarnation), answer.to_bytes());
}

std::vector<int> Rendezvous::missing_ranks() {
  std::vector<int> missing;
  for (int rank = 0; rank < identity_.ranks; ++rank) {
    if (!store_->has(card_key(rank))) missing.push_back(rank);
  }
  return missing;
}

Meeting Rendezvous::meet(const std::string& address) {
  int rank = identity_.rank;
  int64_t claims = store_->count(fmt::format("claim/{}", rank));
  if (claims > 1 && rank != 0 && options_.may_return && store_->has("all_met")) {
    compare_sizes();
    return rejoin(address, static_cast<int>(claims) - 1);
  }
  if (claims > 1) {
    std::string why = fmt::format("two processes say they are rank {}: each must have a RANK of its own, and each job a MASTER_PORT (here {})",
                                  rank, identity_.master_port);
    // In a running job the newcomer is wrong; in one that has not met yet, another rank will be missing.
    if (!store_->has("all_met")) store_->refuse_all(why);
    throw UserError(why);
  }
  if (rank == 0) {
    store_->put("nonce", JobSecret::nonce());
    store_->put("ranks", std::to_string(identity_.ranks));
  }
  compare_sizes();
  store_->put(card_key(rank), pack_card(own_card(address, 0)));

  std::vector<std::string> keys;
  for (int peer = 0; peer < identity_.ranks; ++peer) keys.push_back(card_key(peer));
  keys.push_back("nonce");
  auto for_what = [&] { return fmt::format("ranks {} of {}", fmt::join(missing_ranks(), ", "), identity_.ranks); };
  if (!store_->wait_for(keys, for_what)) {
    std::vector<int> missing = missing_ranks();
    std::string why = fmt::format("after {} s {} of {} ranks are missing: {}; see their output, and whether they were started",
                                  options_.timeout.count() / 1000, missing.size(), identity_.ranks, fmt::join(missing, ", "));
    if (store_->listens()) store_->refuse_all(why);
    throw UserError(why);
  }
  std::vector<std::string> bytes;
  for (int peer = 0; peer < identity_.ranks; ++peer) bytes.push_back(store_->get(card_key(peer)));
  nonce_ = store_->get("nonce");

  // The store must stay up until all ranks have read it, even if they are about to find that they are incompatible.
  if (store_->count("met") == identity_.ranks) store_->put("all_met", "yes");
  if (store_->listens()) store_->wait_for({"all_met"}, [] { return "all ranks to meet"; });

  for (int peer = 0; peer < identity_.ranks; ++peer) cards_.push_back(unpack_card(peer, bytes[static_cast<size_t>(peer)]));
  compare_cards(cards_);
  return {number_hosts(cards_), options_.secret.for_job(nonce_)};
}

}  // namespace pistachio
