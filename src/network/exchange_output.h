// Writing end of an exchange: accepts rows for any rank. Created by QueryExchanges; see exchange_hub.h for the protocol. Thread-safe.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/task.h"
#include "columns/chunk_packing.h"
#include "data/chunk.h"
#include "memory/channel.h"
#include "network/block_compression.h"
#include "network/exchange_dictionaries.h"
#include "network/exchange_limits.h"
#include "network/message_kind.h"

namespace pistachio {

class QueryExchanges;

class ExchangeOutput {
 public:
  ExchangeOutput(QueryExchanges& owner, uint32_t number, ExchangeLimits limits);

  // One more caller of finish(). Call before the first send.
  void add_sender() { ++senders_; }
  // Sends the rows of the chunks as one message: to this rank exactly one chunk, to others at least one. Waits while there is no room; adds
  // that time to `waited_nanoseconds`. False if that rank needs no more rows.
  Task<bool> send(int rank, std::vector<Chunk> chunks, std::atomic<int64_t>* waited_nanoseconds = nullptr);
  bool is_wanted(int rank) const { return !peers_[static_cast<size_t>(rank)]->enough; }
  bool is_wanted_anywhere() const;
  // Priority of its rows over those of other exchanges (Message::urgency). Call before the first send.
  void set_urgency(int urgency) { urgency_ = urgency; }
  // A sender makes no more calls of send().
  void finish();
  // Sends the queued rows to the other ranks, until all senders have finished. Run it concurrently with the senders.
  Task<void> carry();
  void add_figures(ExchangeFigures& figures) const;
  // Rows packed for ranks of other hosts so far, and their bytes on the wire, without dictionaries that are sent apart.
  int64_t network_rows() const { return network_rows_; }
  int64_t network_bytes() const { return network_bytes_; }
  // What these rows would take on the wire to another host.
  int64_t bytes_on_network(const Chunk& rows) const;
  std::string describe() const;

  void on_credit(int rank, int64_t bytes);
  void on_enough(int rank);

 private:
  // A chunk for this rank, a packed block for others.
  struct Outgoing {
    Chunk chunk;
    WireBlock block;
    SharedDictionaries dictionaries;  // that the block refers to
    int64_t bytes = 0;
  };
  struct Peer {
    Peer(int64_t outgoing_bytes, int64_t dictionary_bytes, bool across_network)
        : crosses_network(across_network), waiting(outgoing_bytes), credit(0), dictionaries(dictionary_bytes) {}
    const bool crosses_network;
    Channel<Outgoing> waiting;
    Channel<int64_t> credit;
    std::atomic<bool> enough = false;
    SentDictionaries dictionaries;  // used by carry_to()
    // Sent to this rank so far, and the part not yet credited.
    std::atomic<int64_t> bytes = 0;
    std::atomic<int64_t> messages = 0;
    std::atomic<int64_t> under_way = 0;
    std::atomic<bool> ended = false;
  };
  Task<void> carry_to(int rank);
  WireBlock wire_form(int rank, at::Tensor block);
  // Both return the bytes put in flight.
  int64_t hand_over(int rank, Outgoing rows, int64_t number);
  int64_t dispatch(int rank, MessageKind kind, int64_t value, at::Tensor payload, const std::string& more);

  QueryExchanges& owner_;
  const uint32_t number_;
  const ExchangeLimits limits_;
  BlockCompressor compressor_;
  int urgency_ = 0;
  std::atomic<int> senders_ = 1;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::atomic<int64_t> bytes_sent_ = 0;
  std::atomic<int64_t> bytes_across_network_ = 0;
  std::atomic<int64_t> messages_sent_ = 0;
  std::atomic<int64_t> network_rows_ = 0;
  std::atomic<int64_t> network_bytes_ = 0;
};

}  // namespace pistachio
