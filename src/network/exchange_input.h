// Reading end of an exchange: the rows that all ranks sent to this one. Created by QueryExchanges; see exchange_hub.h for the protocol. Thread-safe.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/task.h"
#include "columns/device_copy.h"
#include "data/chunk.h"
#include "memory/channel.h"
#include "network/block_compression.h"
#include "network/exchange_dictionaries.h"
#include "network/exchange_limits.h"

namespace pistachio {

class QueryExchanges;

class ExchangeInput {
 public:
  // Input of unpack(): a chunk of this rank, or a block of another rank.
  struct Rows {
    Chunk chunk;
    at::Tensor block;
    int source = 0;
    int64_t bytes = 0;           // on the wire, without dictionaries
    int64_t number = 0;          // position among the messages of its source
    bool is_end = false;         // no rows: the source is exhausted
    bool is_compressed = false;  // applies to the block
    // Dictionaries that the block refers to.
    std::vector<DictionaryNumber> dictionary_numbers;
    std::vector<std::shared_ptr<ReceivedDictionary>> dictionaries;
  };

  ExchangeInput(QueryExchanges& owner, uint32_t number, ExchangeLimits limits);

  // Waits; nullopt after the end. Any number of lanes. Throws PeerError for malformed messages.
  Task<std::optional<Rows>> receive();
  // Rows that have arrived already, if any. Never waits.
  std::optional<Rows> take();
  // Like receive(), but also reports the end of each source: for a single lane that reads by source.
  Task<std::optional<Rows>> receive_with_ends() { return queue_.receive(); }
  // Call on the consuming lane, right before use: queued rows stay packed. Keeps what release() needs. Throws PeerError for damaged rows.
  // The chunk is on the copier's device.
  static Chunk unpack(Rows& rows, ChunkCopier& copier);
  // In host memory.
  static Chunk unpack(Rows& rows);
  // The rows were consumed: returns credit to their sender.
  void release(const Rows& rows);
  // No more rows are needed: notifies the senders.
  void close();

  void on_rows(Rows rows);
  void on_dictionary(int source, DictionaryNumber number, WireBlock block, const std::vector<RetiredDictionary>& retired);
  void on_end(int source, int64_t messages, int64_t dictionaries);
  // The source sent garbage: receivers get PeerError.
  void on_damage(int source, const std::string& problem);
  void add_figures(ExchangeFigures& figures);
  // Progress per source, for the report that is written when a rank is lost.
  std::string describe();

 private:
  struct Source {
    int64_t received = 0;
    int64_t bytes = 0;
    int64_t expected = -1;     // messages; -1: unknown yet
    int64_t to_give_back = 0;  // consumed, but credit not returned yet
    int64_t expected_dictionaries = 0;
    ReceivedDictionaries dictionaries;
    std::vector<Rows> early;  // arrived before a dictionary they refer to
    bool has_ended = false;
  };
  void send_credit(int source, int64_t bytes);
  // Under mutex_.
  int64_t take_credit_due(Source& source);
  void queue_complete_rows(Source& source);
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

}  // namespace pistachio
