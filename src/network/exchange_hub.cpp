#include "network/exchange_hub.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/byte_stream.h"
#include "base/check.h"
#include "base/format_bytes.h"
#include "base/task_group.h"
#include "columns/chunk_packing.h"

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

void ExchangeInput::release(const Rows& rows) {
  if (rows.source == owner_.rank()) return;  // the queue itself is its window
  int64_t give_back = 0;
  {
    std::lock_guard lock(mutex_);
    Source& source = sources_[static_cast<size_t>(rows.source)];
    source.to_give_back += rows.bytes;
    bool is_enough = source.to_give_back >= limits_.window_bytes / kCreditSteps;
    if (is_enough && source.expected < 0) give_back = std::exchange(source.to_give_back, 0);
  }
  if (give_back > 0) owner_.send(rows.source, MessageKind::Credit, number_, give_back);
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

Task<bool> ExchangeInput::put(Chunk chunk) {
  int64_t bytes = std::max<int64_t>(1, chunk.memory_bytes());
  Rows rows{std::move(chunk), {}, owner_.rank(), bytes};
  Task<void> sending = queue_.send(std::move(rows), bytes);
  try {
    co_await sending;
  } catch (const ReceiverClosed&) {
    co_return false;
  }
  co_return true;
}

void ExchangeInput::on_rows(int source, at::Tensor block) {
  if (!block.defined()) return;
  int64_t bytes = block.numel();
  std::lock_guard lock(mutex_);
  Source& from = sources_[static_cast<size_t>(source)];
  ++from.received;
  from.bytes += bytes;
  bytes_received_ += bytes;
  ++messages_received_;
  if (complete_) return;
  if (!closed_) queue_.push(Rows{{}, std::move(block), source, bytes}, bytes);
  close_if_complete();
}

void ExchangeInput::on_end(int source, int64_t messages) {
  std::lock_guard lock(mutex_);
  sources_[static_cast<size_t>(source)].expected = messages;
  close_if_complete();
}

void ExchangeInput::close_if_complete() {
  if (complete_) return;
  complete_ = std::all_of(sources_.begin(), sources_.end(),
                          [](const Source& source) { return source.expected >= 0 && source.received >= source.expected; });
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

std::string ExchangeInput::describe() {
  std::string text;
  std::lock_guard lock(mutex_);
  for (size_t rank = 0; rank < sources_.size(); ++rank) {
    if (static_cast<int>(rank) == owner_.rank()) continue;
    const Source& source = sources_[rank];
    std::string expected = source.expected < 0 ? "more may come" : fmt::format("of {}", source.expected);
    text += fmt::format("  from {}: {} messages ({}), {}, {} worked up and not told\n", rank, source.received, expected,
                        format_bytes(source.bytes), format_bytes(source.to_give_back));
  }
  return text;
}

ExchangeOutput::ExchangeOutput(QueryExchanges& owner, uint32_t number, ExchangeLimits limits)
    : owner_(owner), number_(number), limits_(limits) {
  for (int rank = 0; rank < owner.ranks(); ++rank) peers_.push_back(std::make_unique<Peer>(limits.outgoing_bytes));
}

Task<bool> ExchangeOutput::send(int rank, Chunk chunk) {
  if (!is_wanted(rank)) co_return false;
  if (rank == owner_.rank()) {
    Task<bool> putting = owner_.input(number_).put(std::move(chunk));
    bool is_taken = co_await putting;
    co_return is_taken;
  }
  at::Tensor block = pack_chunk(chunk);
  owner_.reach(FaultPoint::BlockPacked);
  int64_t bytes = block.numel();
  Task<void> sending = peers_[static_cast<size_t>(rank)]->waiting.send(std::move(block), bytes);
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
  while (true) {
    // Rows of this rank go into the input directly; here it is only about the end.
    Task<std::optional<at::Tensor>> taking = peer.waiting.receive();
    std::optional<at::Tensor> block = co_await taking;
    if (!block) break;
    int64_t bytes = block->numel();
    // Not: until this block fits as well. The receiver keeps back up to a share of the window before it tells of credit, and a large block
    // behind a small one would wait for ever.
    while (peer.under_way >= limits_.window_bytes && !peer.enough) {
      owner_.reach(FaultPoint::CreditAwaited);
      Task<std::optional<int64_t>> waiting = peer.credit.receive();
      std::optional<int64_t> credit = co_await waiting;
      if (!credit) break;
      peer.under_way -= *credit;
    }
    if (peer.enough) break;
    peer.under_way += bytes;
    peer.bytes += bytes;
    ++peer.messages;
    bytes_sent_ += bytes;
    ++messages_sent_;
    owner_.send(rank, MessageKind::Rows, number_, 0, std::move(*block));
  }
  if (rank == owner_.rank()) {
    owner_.input(number_).on_end(rank, 0);
  } else {
    owner_.send(rank, MessageKind::End, number_, peer.messages);
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
  bool is_ours = kind == MessageKind::Rows || kind == MessageKind::Credit || kind == MessageKind::End || kind == MessageKind::Enough;
  if (!is_ours) return false;
  int64_t query = 0;
  try {
    query = ExchangeHead::of(message.head).query;
  } catch (const PeerError&) {
    return true;  // not made by this code: nobody waits for it
  }
  // Held while dispatching: a query that ends waits for it.
  std::lock_guard lock(mutex_);
  if (query < first_query_ || ended_.contains(query)) return true;
  auto found = open_.find(query);
  if (found == open_.end()) {
    early_[query].push_back({source, std::move(message)});
  } else {
    found->second->dispatch(source, std::move(message));
  }
  return true;
}

void ExchangeHub::begin_at(int64_t query) {
  std::lock_guard lock(mutex_);
  first_query_ = query;
  early_.erase(early_.begin(), early_.lower_bound(query));
}

void ExchangeHub::open(int64_t query, QueryExchanges& exchanges) {
  std::lock_guard lock(mutex_);
  ENSURE(open_.emplace(query, &exchanges).second, "query {} runs twice on a rank", query);
  auto found = early_.find(query);
  if (found == early_.end()) return;
  try {
    for (Early& early : found->second) exchanges.dispatch(early.source, std::move(early.message));
  } catch (...) {
    open_.erase(query);  // the exchanges never come to life
    throw;
  }
  early_.erase(found);
}

void ExchangeHub::close(int64_t query) {
  std::lock_guard lock(mutex_);
  open_.erase(query);
  early_.erase(query);
  ended_.insert(query);
  if (ended_.size() > kEndedQueries) ended_.erase(ended_.begin());
}

QueryExchanges::QueryExchanges(ExchangeHub& hub, int64_t query, size_t count, ExchangeLimits limits, FaultPlan* faults)
    : hub_(hub), query_(query), faults_(faults) {
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

std::string QueryExchanges::describe() const {
  std::string text;
  for (size_t number = 0; number < inputs_.size(); ++number)
    text += fmt::format("exchange {}\n{}{}", number, outputs_[number]->describe(), inputs_[number]->describe());
  return text;
}

void QueryExchanges::send(int rank, MessageKind kind, uint32_t number, int64_t value, at::Tensor payload) {
  switch (kind) {
    case MessageKind::Rows: reach(FaultPoint::RowsSent); break;
    case MessageKind::End: reach(FaultPoint::EndSent); break;
    case MessageKind::Credit: reach(FaultPoint::CreditSent); break;
    case MessageKind::Enough: reach(FaultPoint::EnoughSent); break;
    default: break;
  }
  ExchangeHead head{query_, number, value};
  hub_.transport().send(rank, Message{static_cast<uint16_t>(kind), head.to_bytes(), std::move(payload)});
}

void QueryExchanges::dispatch(int source, Message message) {
  ExchangeHead head = ExchangeHead::of(message.head);
  if (head.number >= inputs_.size() || source < 0 || source >= ranks()) return;  // of no exchange of this plan
  switch (static_cast<MessageKind>(message.kind)) {
    case MessageKind::Rows:
      reach(FaultPoint::RowsReceived);
      inputs_[head.number]->on_rows(source, std::move(message.payload));
      break;
    case MessageKind::End:
      reach(FaultPoint::EndReceived);
      inputs_[head.number]->on_end(source, head.value);
      break;
    case MessageKind::Credit:
      reach(FaultPoint::CreditReceived);
      outputs_[head.number]->on_credit(source, head.value);
      break;
    case MessageKind::Enough:
      reach(FaultPoint::EnoughReceived);
      outputs_[head.number]->on_enough(source);
      break;
    default: break;
  }
}

}  // namespace pistachio
