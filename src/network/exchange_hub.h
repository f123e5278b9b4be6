// Where the messages of exchanges arrive on a rank, and the two ends that operators see of one: an ExchangeInput gives the rows that all
// ranks sent here, an ExchangeOutput takes rows for any rank.
//
// Flow control: a sender may have `window` bytes under way to a receiver and gets them back as the receiver works them up, for each
// exchange and each pair of ranks apart. So a slow receiver slows its senders and never fills memory, and no exchange waits for another.
// A rank's own rows go the same way, unpacked.
// Nothing here depends on the order of messages: the end says how many there were, and each has a number for readers that need the order.
// A dictionary travels to a rank once for many messages (travelling_dictionaries.h); rows that come before theirs are put by until it is
// there.
// The hub lives as long as the rank; QueryExchanges is one query's share of it. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/fault_plan.h"
#include "base/task.h"
#include "columns/chunk_packing.h"
#include "data/chunk.h"
#include "memory/channel.h"
#include "network/block_compression.h"
#include "network/message_kind.h"
#include "network/query_notes.h"
#include "network/transport.h"
#include "network/travelling_dictionaries.h"

namespace pistachio {

struct ExchangeLimits {
  int64_t window_bytes = 8 << 20;    // under way from one rank to another, and one message more; the same on all ranks
  int64_t outgoing_bytes = 2 << 20;  // packed and waiting to be sent to one rank
  bool compress = false;             // rows, where that makes them smaller; all byte counts are of what travels
};

// What an exchange moved between this rank and others, and how long tasks of this rank waited for it: times are sums over tasks.
struct ExchangeFigures {
  int64_t bytes_sent = 0;
  int64_t messages_sent = 0;
  int64_t bytes_received = 0;
  int64_t messages_received = 0;
  std::chrono::nanoseconds senders_stalled{0};    // for room, their receivers being slower
  std::chrono::nanoseconds credit_stalled{0};     // what was packed already, for credit from its receivers
  std::chrono::nanoseconds receivers_stalled{0};  // for rows
};

class QueryExchanges;

class ExchangeInput {
 public:
  // What unpack() makes a chunk of: one already, or, from another rank, a block.
  struct Rows {
    Chunk chunk;
    at::Tensor block;
    int source = 0;
    int64_t bytes = 0;           // of what travelled, dictionaries not counted
    int64_t number = 0;          // among those of its source
    bool is_end = false;         // no rows: all of the source have come
    bool is_compressed = false;  // the block
    // What the block refers to.
    std::vector<DictionaryNumber> dictionary_numbers;
    std::vector<std::shared_ptr<ReceivedDictionary>> dictionaries;
  };

  ExchangeInput(QueryExchanges& owner, uint32_t number, ExchangeLimits limits);

  // Waits; nothing after the end. Any number of lanes. Throws PeerError when a message makes no sense.
  Task<std::optional<Rows>> receive();
  // The same, and tells of the end of each source: for one lane that goes by source.
  Task<std::optional<Rows>> receive_with_ends() { return queue_.receive(); }
  // For the lane that wants them, when it does: rows that wait stay as small as they came. Leaves what release() needs. Throws PeerError
  // for rows that are damaged.
  static Chunk unpack(Rows& rows);
  // The rows are worked up: their sender may send as many again.
  void release(const Rows& rows);
  // Nothing more is wanted: senders hear of it.
  void close();

  void on_rows(Rows rows);
  void on_dictionary(int source, DictionaryNumber number, WireBlock block, const std::vector<RetiredDictionary>& retired);
  void on_end(int source, int64_t messages, int64_t dictionaries);
  // What came from there makes no sense: whoever receives gets PeerError.
  void on_damage(int source, const std::string& problem);
  void add_figures(ExchangeFigures& figures);
  // What has come of what, for the file that is written when a rank is lost.
  std::string describe();

 private:
  struct Source {
    int64_t received = 0;
    int64_t bytes = 0;
    int64_t expected = -1;     // messages; -1: not known yet
    int64_t to_give_back = 0;  // worked up, but not told yet
    int64_t expected_dictionaries = 0;
    ReceivedDictionaries dictionaries;
    std::vector<Rows> early;  // before a dictionary they refer to
    bool has_ended = false;
  };
  void tell_credit(int source, int64_t bytes);
  // Under mutex_.
  int64_t take_credit_to_tell(Source& source);
  void queue_those_with_dictionaries(Source& source);
  void fail(int source, const std::string& problem);
  void note_progress(int source);

  QueryExchanges& owner_;
  const uint32_t number_;
  const ExchangeLimits limits_;
  Channel<Rows> queue_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<Source> sources_;
  int64_t bytes_received_ = 0;
  int64_t messages_received_ = 0;
  bool closed_ = false;
  bool complete_ = false;
};

class ExchangeOutput {
 public:
  ExchangeOutput(QueryExchanges& owner, uint32_t number, ExchangeLimits limits);

  // Waits while there is no room. False: that rank wants nothing more.
  Task<bool> send(int rank, Chunk chunk);
  bool is_wanted(int rank) const { return !peers_[static_cast<size_t>(rank)]->enough; }
  bool is_wanted_anywhere() const;
  // No more sends will come.
  void finish();
  // Carries what send() was given to the other ranks, until finish(). To be run beside the senders.
  Task<void> carry();
  void add_figures(ExchangeFigures& figures) const;
  std::string describe() const;

  void on_credit(int rank, int64_t bytes);
  void on_enough(int rank);

 private:
  // For this rank a chunk, for others a packed block.
  struct Outgoing {
    Chunk chunk;
    WireBlock block;
    SharedDictionaries dictionaries;  // that the block refers to
    int64_t bytes = 0;
  };
  struct Peer {
    Peer(int64_t outgoing_bytes, int64_t dictionary_bytes) : waiting(outgoing_bytes), credit(0), dictionaries(dictionary_bytes) {}
    Channel<Outgoing> waiting;
    Channel<int64_t> credit;
    std::atomic<bool> enough = false;
    SentDictionaries dictionaries;  // of carry_to()
    // To this rank so far, and of that not worked up there yet.
    std::atomic<int64_t> bytes = 0;
    std::atomic<int64_t> messages = 0;
    std::atomic<int64_t> under_way = 0;
    std::atomic<bool> ended = false;
  };
  Task<void> carry_to(int rank);
  // Both give the bytes that are under way because of it.
  int64_t hand_over(int rank, Outgoing rows, int64_t number);
  int64_t dispatch(int rank, MessageKind kind, int64_t value, at::Tensor payload, const std::string& more);

  QueryExchanges& owner_;
  const uint32_t number_;
  const ExchangeLimits limits_;
  BlockCompressor compressor_;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::atomic<int64_t> bytes_sent_ = 0;
  std::atomic<int64_t> messages_sent_ = 0;
};

class ExchangeHub {
 public:
  explicit ExchangeHub(Transport& transport) : transport_(transport) {}

  Transport& transport() { return transport_; }
  // Whether the message was one of an exchange. Called by the transport's thread.
  bool take(int source, Message& message);
  // What has come and still comes for the query is dropped: it has ended here, or never begins.
  void forget(int64_t query) { close(query); }
  // Of queries before this one nothing is wanted: they began before this rank was there.
  void begin_at(int64_t query);

 private:
  friend class QueryExchanges;
  struct Early {
    int source;
    Message message;
  };

  void open(int64_t query, QueryExchanges& exchanges);
  void close(int64_t query);

  Transport& transport_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::map<int64_t, QueryExchanges*> open_;
  std::map<int64_t, std::vector<Early>> early_;  // of queries that are not open yet; senders' windows bound it
  std::set<int64_t> ended_;                      // the latest: what still comes of them is dropped
  int64_t first_query_ = 0;
};

// The exchanges of one query on this rank.
class QueryExchanges {
 public:
  // Notes may be about each exchange, and about so many further topics. The faults, if any, outlive it.
  QueryExchanges(ExchangeHub& hub, int64_t query, size_t count, ExchangeLimits limits, size_t further_topics = 0, FaultPlan* faults = nullptr);
  ~QueryExchanges();
  QueryExchanges(const QueryExchanges&) = delete;
  QueryExchanges& operator=(const QueryExchanges&) = delete;

  int rank() const { return hub_.transport().rank(); }
  int ranks() const { return hub_.transport().ranks(); }
  ExchangeInput& input(size_t number) { return *inputs_[number]; }
  ExchangeOutput& output(size_t number) { return *outputs_[number]; }
  size_t count() const { return inputs_.size(); }
  ExchangeFigures figures(size_t number) const;
  QueryNotes& notes() { return notes_; }
  // One line for each exchange and other rank.
  std::string describe() const;
  void reach(FaultPoint point) {
    if (faults_ != nullptr) faults_->reach(point);
  }

  // `more` follows the head.
  void send(int rank, MessageKind kind, uint32_t number, int64_t value, at::Tensor payload = {}, const std::string& more = {});

 private:
  friend class ExchangeHub;
  void dispatch(int source, Message message);

  ExchangeHub& hub_;
  const int64_t query_;
  FaultPlan* const faults_;
  QueryNotes notes_;
  std::vector<std::unique_ptr<ExchangeInput>> inputs_;
  std::vector<std::unique_ptr<ExchangeOutput>> outputs_;
};

}  // namespace pistachio
