#include "network/exchange_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/byte_stream.h"
#include "base/check.h"
#include "base/format_bytes.h"
#include "base/task_group.h"
#include "network/exchange_hub.h"

namespace pistachio {

namespace {

// Share of the window for dictionaries that a receiver keeps for a sender. Next to them and credit that is not returned yet there must be
// room for messages, or the sender would wait forever.
constexpr int64_t kDictionaryShare = 4;
// Smaller dictionaries are sent with their rows: a separate message would cost more than it saves.
constexpr int64_t kSmallDictionary = 4 << 10;

std::string count_to_bytes(int64_t count) {
  ByteWriter writer;
  writer.put(count);
  return writer.take();
}

}  // namespace

ExchangeOutput::ExchangeOutput(QueryExchanges& owner, uint32_t number, ExchangeLimits limits)
    : owner_(owner), number_(number), limits_(limits), compressor_(limits.compress != RowCompression::None) {
  int64_t dictionary_bytes = limits.window_bytes / kDictionaryShare;
  for (int rank = 0; rank < owner.ranks(); ++rank)
    peers_.push_back(std::make_unique<Peer>(limits.outgoing_bytes, dictionary_bytes, owner.crosses_network(rank)));
}

Task<bool> ExchangeOutput::send(int rank, std::vector<Chunk> chunks, std::atomic<int64_t>* waited_nanoseconds) {
  if (!is_wanted(rank)) co_return false;
  Outgoing rows;
  if (rank == owner_.rank()) {
    ENSURE_EQ(chunks.size(), size_t{1});
    rows.bytes = std::max<int64_t>(1, chunks[0].memory_bytes());
    rows.chunk = std::move(chunks[0]);
  } else {
    PackedChunk packed = pack_chunks(chunks, {.least = kSmallDictionary, .most = limits_.window_bytes / kDictionaryShare});
    rows.block = wire_form(rank, std::move(packed.block));
    rows.dictionaries = std::move(packed.dictionaries);
    rows.bytes = rows.block.bytes.numel();
    if (peers_[static_cast<size_t>(rank)]->crosses_network) {
      for (const Chunk& chunk : chunks) network_rows_ += chunk.rows();
      network_bytes_ += rows.bytes;
    }
  }
  owner_.reach(FaultPoint::BlockPacked);
  int64_t bytes = rows.bytes;
  Task<void> sending = peers_[static_cast<size_t>(rank)]->waiting.send(std::move(rows), bytes);
  const auto begun = std::chrono::steady_clock::now();
  try {
    co_await sending;
  } catch (const ReceiverClosed&) {
    co_return false;
  }
  if (waited_nanoseconds != nullptr) *waited_nanoseconds += (std::chrono::steady_clock::now() - begun).count();
  co_return true;
}

WireBlock ExchangeOutput::wire_form(int rank, at::Tensor block) {
  const bool is_left = limits_.compress == RowCompression::AcrossNetwork && !peers_[static_cast<size_t>(rank)]->crosses_network;
  return is_left ? WireBlock{std::move(block), false} : compressor_.wire_form(std::move(block));
}

int64_t ExchangeOutput::bytes_on_network(const Chunk& rows) const {
  const at::Tensor block = pack_chunk(rows);
  if (limits_.compress == RowCompression::None) return block.numel();
  const std::optional<at::Tensor> compressed = compress_block(block);
  return compressed ? compressed->numel() : block.numel();
}

bool ExchangeOutput::is_wanted_anywhere() const {
  return std::any_of(peers_.begin(), peers_.end(), [](const std::unique_ptr<Peer>& peer) { return !peer->enough; });
}

void ExchangeOutput::finish() {
  if (--senders_ > 0) return;
  for (const std::unique_ptr<Peer>& peer : peers_) peer->waiting.close();
}

Task<void> ExchangeOutput::carry() {
  std::vector<Task<void>> all;
  for (int rank = 0; rank < owner_.ranks(); ++rank) all.push_back(carry_to(rank));
  Task<void> carrying = when_all(std::move(all));
  co_await carrying;
}

Task<void> ExchangeOutput::carry_to(int rank) {
  Peer& peer = *peers_[static_cast<size_t>(rank)];
  while (true) {
    Task<std::optional<Outgoing>> taking = peer.waiting.receive();
    std::optional<Outgoing> rows = co_await taking;
    if (!rows) break;
    // Does not wait until this block fits as well: the receiver withholds up to a share of the window before it returns credit, so a large
    // block behind a small one would wait forever.
    while (peer.under_way >= limits_.window_bytes && !peer.enough) {
      owner_.reach(FaultPoint::CreditAwaited);
      Task<std::optional<int64_t>> waiting = peer.credit.receive();
      std::optional<int64_t> credit = co_await waiting;
      if (!credit) break;
      peer.under_way -= *credit;
    }
    if (peer.enough) break;
    int64_t number = peer.messages++;
    int64_t bytes = hand_over(rank, std::move(*rows), number);
    peer.under_way += bytes;
    peer.bytes += bytes;
  }
  if (rank == owner_.rank()) {
    owner_.input(number_).on_end(rank, peer.messages, 0);
  } else {
    owner_.send(rank, MessageKind::End, number_, peer.messages, {}, count_to_bytes(peer.dictionaries.count()));
  }
  peer.ended = true;
}

std::string ExchangeOutput::describe() const {
  std::string text;
  for (size_t rank = 0; rank < peers_.size(); ++rank) {
    if (static_cast<int>(rank) == owner_.rank()) continue;
    const Peer& peer = *peers_[rank];
    text += fmt::format("  to {}: {} messages, {}, {} without credit of a window of {}{}{}\n", rank, peer.messages.load(),
                        format_bytes(peer.bytes), format_bytes(peer.under_way), format_bytes(limits_.window_bytes),
                        peer.ended ? ", all sent" : "", peer.enough ? ", it wants no more" : "");
  }
  return text;
}

int64_t ExchangeOutput::hand_over(int rank, Outgoing rows, int64_t number) {
  int64_t bytes = rows.bytes;
  if (rank == owner_.rank()) {
    owner_.input(number_).on_rows({.chunk = std::move(rows.chunk), .source = rank, .bytes = bytes, .number = number});
    return bytes;
  }
  // A single task sends to the rank, so a dictionary always precedes the first rows that refer to it: rows that have arrived never wait for
  // a dictionary that waits for credit here.
  SentDictionaries& sent = peers_[static_cast<size_t>(rank)]->dictionaries;
  std::vector<DictionaryNumber> numbers;
  for (const std::shared_ptr<const Column>& dictionary : rows.dictionaries) {
    std::optional<DictionaryNumber> known = sent.refer(dictionary);
    if (!known) {
      WireBlock block = wire_form(rank, pack_dictionary(*dictionary));
      SentDictionaries::Added added = sent.add(dictionary, block.bytes.numel());
      MessageKind kind = block.is_compressed ? MessageKind::CompressedDictionary : MessageKind::Dictionary;
      bytes += dispatch(rank, kind, added.number, std::move(block.bytes), retired_to_bytes(added.retired));
      known = added.number;
    }
    numbers.push_back(*known);
  }
  MessageKind kind = rows.block.is_compressed ? MessageKind::CompressedRows : MessageKind::Rows;
  dispatch(rank, kind, number, std::move(rows.block.bytes), numbers_to_bytes(numbers));
  return bytes;
}

int64_t ExchangeOutput::dispatch(int rank, MessageKind kind, int64_t value, at::Tensor payload, const std::string& more) {
  int64_t bytes = payload.numel();
  bytes_sent_ += bytes;
  if (peers_[static_cast<size_t>(rank)]->crosses_network) bytes_across_network_ += bytes;
  ++messages_sent_;
  owner_.send(rank, kind, number_, value, std::move(payload), more, urgency_);
  return bytes;
}

void ExchangeOutput::add_figures(ExchangeFigures& figures) const {
  figures.bytes_sent += bytes_sent_;
  figures.bytes_across_network += bytes_across_network_;
  figures.messages_sent += messages_sent_;
  for (const std::unique_ptr<Peer>& peer : peers_) {
    figures.senders_stalled += peer->waiting.statistics().senders_stalled;
    figures.credit_stalled += peer->credit.statistics().receivers_stalled;
  }
}

void ExchangeOutput::on_credit(int rank, int64_t bytes) {
  peers_[static_cast<size_t>(rank)]->credit.push(bytes, 0);
}

void ExchangeOutput::on_enough(int rank) {
  Peer& peer = *peers_[static_cast<size_t>(rank)];
  peer.enough = true;
  peer.waiting.close_receiver();
  peer.credit.close_receiver();
}

}  // namespace pistachio
