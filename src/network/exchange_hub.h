// Dispatches the messages of exchanges on a rank and creates their two ends: an ExchangeInput returns rows sent to this rank, an
// ExchangeOutput accepts rows for any rank.
//
// Flow control is by credit: per exchange and pair of ranks, a sender has at most `window` bytes in flight and gets credit back as the
// receiver consumes them. A slow receiver slows its senders and never fills memory, and exchanges do not block each other. Local rows take
// the same path, unpacked. Message order is not relied on: the end marker carries the number of messages, and messages are numbered for
// readers that need the order. A dictionary is sent once per rank (exchange_dictionaries.h); rows that arrive before it are set aside. The
// hub lives as long as the rank; QueryExchanges is one query's part of it. Thread-safe.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/fault_plan.h"
#include "network/exchange_input.h"
#include "network/exchange_limits.h"
#include "network/exchange_output.h"
#include "network/message_kind.h"
#include "network/control_exchange.h"
#include "network/scan_shares.h"
#include "network/transport.h"

namespace pistachio {

class QueryExchanges;

class ExchangeHub {
 public:
  // `hosts`: of each rank; empty: unknown.
  explicit ExchangeHub(Transport& transport, std::vector<int> hosts = {}) : transport_(transport), hosts_(std::move(hosts)) {}

  Transport& transport() { return transport_; }
  // Whether messages to the rank go to another host. In a job on one host, or on unknown ones, they count as if they did.
  bool crosses_network(int rank) const;
  // Whether the message belonged to an exchange. Called on the transport's thread.
  bool take(int source, Message& message);
  // Drops all messages of the query, past and future: it has ended here or never begins.
  void forget(int64_t query) noexcept { close(query); }
  // Drops messages of earlier queries: they began before this rank joined.
  void begin_at(int64_t query);

 private:
  friend class QueryExchanges;
  struct Early {
    int source;
    Message message;
  };

  void open(int64_t query, QueryExchanges& exchanges);
  void close(int64_t query) noexcept;
  void answer_none(int source, const Message& question);

  Transport& transport_;
  const std::vector<int> hosts_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::map<int64_t, QueryExchanges*> open_;
  std::map<int64_t, std::vector<Early>> early_;  // of queries that are not open yet; bounded by the senders' windows
  std::set<int64_t> ended_;                      // latest ones, whose late messages are dropped
  int64_t first_query_ = 0;
};

// The exchanges of one query on this rank.
class QueryExchanges {
 public:
  // Notes have one topic per exchange, plus `further_topics`. `faults`, if given, must outlive it.
  QueryExchanges(ExchangeHub& hub, int64_t query, size_t count, ExchangeLimits limits, size_t further_topics = 0, FaultPlan* faults = nullptr);
  ~QueryExchanges();
  QueryExchanges(const QueryExchanges&) = delete;
  QueryExchanges& operator=(const QueryExchanges&) = delete;

  int rank() const { return hub_.transport().rank(); }
  int ranks() const { return hub_.transport().ranks(); }
  bool crosses_network(int rank) const { return hub_.crosses_network(rank); }
  ExchangeInput& input(size_t number) { return *inputs_[number]; }
  ExchangeOutput& output(size_t number) { return *outputs_[number]; }
  size_t count() const { return inputs_.size(); }
  ExchangeFigures figures(size_t number) const;
  ControlExchange& notes() { return notes_; }
  ScanShares& scan_shares() { return scan_shares_; }
  // One line per exchange and other rank.
  std::string describe() const;
  void reach(FaultPoint point) {
    if (faults_ != nullptr) faults_->reach(point);
  }

  // `more` is appended to the head.
  void send(int rank, MessageKind kind, uint32_t number, int64_t value, at::Tensor payload = {}, const std::string& more = {},
            int urgency = 0);

 private:
  friend class ExchangeHub;
  void dispatch(int source, Message message);

  ExchangeHub& hub_;
  const int64_t query_;
  FaultPlan* const faults_;
  ControlExchange notes_;
  ScanShares scan_shares_;
  std::vector<std::unique_ptr<ExchangeInput>> inputs_;
  std::vector<std::unique_ptr<ExchangeOutput>> outputs_;
};

}  // namespace pistachio
