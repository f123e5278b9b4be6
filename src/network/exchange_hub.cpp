#include "network/exchange_hub.h"

#include <algorithm>

#include "base/byte_stream.h"
#include "base/check.h"
#include "base/task_group.h"
#include "columns/chunk_packing.h"
#include "network/message_payload.h"

namespace pistachio {

namespace {

// How many ended queries are remembered: messages of older ones are long gone.
constexpr size_t kEndedQueries = 256;
// Credit is told in steps of this share of the window, so that it costs few messages.
constexpr int64_t kCreditSteps = 4;

struct ExchangeHead {
  int64_t query = 0;
  uint32_t number = 0;
  int64_t value = 0;

  std::string to_bytes() const {
    ByteWriter writer;
    writer.put(query);
    writer.put(number);
    writer.put(value);
    return writer.take();
  }
  static ExchangeHead of(const std::string& bytes) {
    ByteReader reader(bytes);
    ExchangeHead head;
    head.query = reader.get<int64_t>();
    head.number = reader.get<uint32_t>();
    head.value = reader.get<int64_t>();
    return head;
  }
};

}  // namespace

ExchangeInput::ExchangeInput(QueryExchanges& owner, uint32_t number, ExchangeLimits limits)
    : owner_(owner), number_(number), limits_(limits), queue_(limits.window_bytes), sources_(static_cast<size_t>(owner.ranks())) {}

Task<std::optional<ExchangeInput::Rows>> ExchangeInput::receive() {
  while (true) {
    Task<std::optional<Rows>> receiving = queue_.receive();
    std::optional<Rows> rows = co_await receiving;
    if (!rows || !rows->is_end) co_return rows;
  }
}

void ExchangeInput::release(const Rows& rows) {
  int64_t give_back = 0;
  {
    std::lock_guard lock(mutex_);
    Source& source = sources_[static_cast<size_t>(rows.source)];
    source.to_give_back += rows.bytes;
    bool is_enough = source.to_give_back >= limits_.window_bytes / kCreditSteps;
    if (is_enough && source.expected < 0) give_back = std::exchange(source.to_give_back, 0);
  }
  if (give_back == 0) return;
  if (rows.source == owner_.rank()) {
    owner_.output(number_).on_credit(rows.source, give_back);
  } else {
    owner_.send(rows.source, MessageKind::Credit, number_, give_back);
  }
}

void ExchangeInput::close() {
  {
    std::lock_guard lock(mutex_);
    if (closed_) return;
    closed_ = true;
  }
  queue_.close_receiver();
  for (int rank = 0; rank < owner_.ranks(); ++rank) {
    if (rank == owner_.rank()) {
      owner_.output(number_).on_enough(rank);
    } else {
      owner_.send(rank, MessageKind::Enough, number_, 0);
    }
  }
}

void ExchangeInput::on_rows(Rows rows) {
  std::lock_guard lock(mutex_);
  int source = rows.source;
  ++sources_[static_cast<size_t>(source)].received;
  if (source != owner_.rank()) {
    bytes_received_ += rows.bytes;
    ++messages_received_;
  }
  if (complete_) return;
  int64_t bytes = rows.bytes;
  if (!closed_) queue_.push(std::move(rows), bytes);
  note_progress(source);
}

void ExchangeInput::on_end(int source, int64_t messages) {
  std::lock_guard lock(mutex_);
  sources_[static_cast<size_t>(source)].expected = messages;
  note_progress(source);
}

void ExchangeInput::note_progress(int number) {
  if (complete_) return;
  Source& source = sources_[static_cast<size_t>(number)];
  if (source.has_ended || source.expected < 0 || source.received < source.expected) return;
  source.has_ended = true;
  if (!closed_) queue_.push(Rows{{}, {}, number, 0, source.expected, true}, 0);
  complete_ = std::all_of(sources_.begin(), sources_.end(), [](const Source& one) { return one.has_ended; });
  if (complete_) queue_.close();
}

void ExchangeInput::add_figures(ExchangeFigures& figures) {
  ChannelStatistics queue = queue_.statistics();
  figures.senders_stalled += queue.senders_stalled;  // of this rank: other ranks' rows are pushed
  figures.receivers_stalled += queue.receivers_stalled;
  std::lock_guard lock(mutex_);
  figures.bytes_received += bytes_received_;
  figures.messages_received += messages_received_;
}

ExchangeOutput::ExchangeOutput(QueryExchanges& owner, uint32_t number, ExchangeLimits limits)
    : owner_(owner), number_(number), limits_(limits) {
  for (int rank = 0; rank < owner.ranks(); ++rank) peers_.push_back(std::make_unique<Peer>(limits.outgoing_bytes));
}

Task<bool> ExchangeOutput::send(int rank, Chunk chunk) {
  if (!is_wanted(rank)) co_return false;
  Outgoing rows;
  if (rank == owner_.rank()) {
    rows.bytes = std::max<int64_t>(1, chunk.memory_bytes());
    rows.chunk = std::move(chunk);
  } else {
    rows.block = pack_chunk(chunk);
    rows.bytes = rows.block.numel();
  }
  int64_t bytes = rows.bytes;
  Task<void> sending = peers_[static_cast<size_t>(rank)]->waiting.send(std::move(rows), bytes);
  try {
    co_await sending;
  } catch (const ReceiverClosed&) {
    co_return false;
  }
  co_return true;
}

bool ExchangeOutput::is_wanted_anywhere() const {
  return std::any_of(peers_.begin(), peers_.end(), [](const std::unique_ptr<Peer>& peer) { return !peer->enough; });
}

void ExchangeOutput::finish() {
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
  int64_t under_way = 0;
  int64_t messages = 0;
  while (true) {
    Task<std::optional<Outgoing>> taking = peer.waiting.receive();
    std::optional<Outgoing> rows = co_await taking;
    if (!rows) break;
    // Not: until this block fits as well. The receiver keeps back up to a share of the window before it tells of credit, and a large block
    // behind a small one would wait for ever.
    while (under_way >= limits_.window_bytes && !peer.enough) {
      Task<std::optional<int64_t>> waiting = peer.credit.receive();
      std::optional<int64_t> credit = co_await waiting;
      if (!credit) break;
      under_way -= *credit;
    }
    if (peer.enough) break;
    under_way += rows->bytes;
    hand_over(rank, std::move(*rows), messages++);
  }
  if (rank == owner_.rank()) {
    owner_.input(number_).on_end(rank, messages);
  } else {
    owner_.send(rank, MessageKind::End, number_, messages);
  }
}

void ExchangeOutput::hand_over(int rank, Outgoing rows, int64_t number) {
  if (rank == owner_.rank()) {
    owner_.input(number_).on_rows({std::move(rows.chunk), {}, rank, rows.bytes, number});
    return;
  }
  bytes_sent_ += rows.bytes;
  ++messages_sent_;
  owner_.send(rank, MessageKind::Rows, number_, number, std::move(rows.block));
}

void ExchangeOutput::add_figures(ExchangeFigures& figures) const {
  figures.bytes_sent += bytes_sent_;
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

bool ExchangeHub::take(int source, Message& message) {
  auto kind = static_cast<MessageKind>(message.kind);
  bool is_ours = kind == MessageKind::Rows || kind == MessageKind::Credit || kind == MessageKind::End || kind == MessageKind::Enough ||
                 kind == MessageKind::Note;
  if (!is_ours) return false;
  int64_t query = 0;
  try {
    query = ExchangeHead::of(message.head).query;
  } catch (const PeerError&) {
    return true;  // not made by this code: nobody waits for it
  }
  // Held while dispatching: a query that ends waits for it.
  std::lock_guard lock(mutex_);
  if (ended_.contains(query)) return true;
  auto found = open_.find(query);
  if (found == open_.end()) {
    early_[query].push_back({source, std::move(message)});
  } else {
    found->second->dispatch(source, std::move(message));
  }
  return true;
}

void ExchangeHub::open(int64_t query, QueryExchanges& exchanges) {
  std::lock_guard lock(mutex_);
  ENSURE(open_.emplace(query, &exchanges).second, "query {} runs twice on a rank", query);
  auto found = early_.find(query);
  if (found == early_.end()) return;
  for (Early& early : found->second) exchanges.dispatch(early.source, std::move(early.message));
  early_.erase(found);
}

void ExchangeHub::close(int64_t query) {
  std::lock_guard lock(mutex_);
  open_.erase(query);
  early_.erase(query);
  ended_.insert(query);
  if (ended_.size() > kEndedQueries) ended_.erase(ended_.begin());
}

QueryExchanges::QueryExchanges(ExchangeHub& hub, int64_t query, size_t count, ExchangeLimits limits, size_t further_topics)
    : hub_(hub),
      query_(query),
      notes_(hub.transport().rank(), hub.transport().ranks(), static_cast<uint32_t>(count + further_topics),
             [this](int rank, uint32_t topic, const std::string& note) { send(rank, MessageKind::Note, topic, 0, payload_of(note)); }) {
  for (size_t i = 0; i < count; ++i) {
    inputs_.push_back(std::make_unique<ExchangeInput>(*this, static_cast<uint32_t>(i), limits));
    outputs_.push_back(std::make_unique<ExchangeOutput>(*this, static_cast<uint32_t>(i), limits));
  }
  hub_.open(query_, *this);
}

QueryExchanges::~QueryExchanges() {
  hub_.close(query_);
}

ExchangeFigures QueryExchanges::figures(size_t number) const {
  ExchangeFigures figures;
  inputs_[number]->add_figures(figures);
  outputs_[number]->add_figures(figures);
  return figures;
}

void QueryExchanges::send(int rank, MessageKind kind, uint32_t number, int64_t value, at::Tensor payload) {
  ExchangeHead head{query_, number, value};
  hub_.transport().send(rank, Message{static_cast<uint16_t>(kind), head.to_bytes(), std::move(payload)});
}

void QueryExchanges::dispatch(int source, Message message) {
  ExchangeHead head = ExchangeHead::of(message.head);
  if (static_cast<MessageKind>(message.kind) == MessageKind::Note) return notes_.on_note(source, head.number, text_of(message.payload));
  if (head.number >= inputs_.size() || source < 0 || source >= ranks()) return;  // of no exchange of this plan
  switch (static_cast<MessageKind>(message.kind)) {
    case MessageKind::Rows: {
      if (!message.payload.defined()) return;
      int64_t bytes = message.payload.numel();
      inputs_[head.number]->on_rows({{}, std::move(message.payload), source, bytes, head.value});
      break;
    }
    case MessageKind::End: inputs_[head.number]->on_end(source, head.value); break;
    case MessageKind::Credit: outputs_[head.number]->on_credit(source, head.value); break;
    case MessageKind::Enough: outputs_[head.number]->on_enough(source); break;
    default: break;
  }
}

}  // namespace pistachio
