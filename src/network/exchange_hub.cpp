#include "network/exchange_hub.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/byte_stream.h"
#include "base/check.h"
#include "base/format_bytes.h"
#include "base/task_group.h"
#include "network/message_payload.h"

namespace pistachio {

namespace {

// How many ended queries are remembered: messages of older ones are long gone.
constexpr size_t kEndedQueries = 256;
// Credit is told in steps of this share of the window, so that it costs few messages.
constexpr int64_t kCreditSteps = 4;
// Dictionaries that a receiver keeps for a sender take up to this share of the window: beside them and the credit that is not told yet,
// there must be room for messages, or the sender would wait for ever.
constexpr int64_t kDictionaryShare = 4;
// Smaller dictionaries travel with their rows: as much as they would save is lost by a message more.
constexpr int64_t kSmallDictionary = 4 << 10;

struct ExchangeHead {
  int64_t query = 0;
  uint32_t number = 0;
  int64_t value = 0;
  std::string_view more;  // what follows, of the bytes that it was read from

  std::string to_bytes() const {
    ByteWriter writer;
    writer.put(query);
    writer.put(number);
    writer.put(value);
    return writer.take().append(more);
  }
  static ExchangeHead of(const std::string& bytes) {
    ByteReader reader(bytes);
    ExchangeHead head;
    head.query = reader.get<int64_t>();
    head.number = reader.get<uint32_t>();
    head.value = reader.get<int64_t>();
    head.more = std::string_view(bytes).substr(bytes.size() - reader.left());
    return head;
  }
};

std::string count_to_bytes(int64_t count) {
  ByteWriter writer;
  writer.put(count);
  return writer.take();
}

int64_t count_of_bytes(std::string_view bytes) {
  return ByteReader(bytes).get<int64_t>();
}

bool is_of_exchanges(MessageKind kind) {
  switch (kind) {
    case MessageKind::Rows:
    case MessageKind::CompressedRows:
    case MessageKind::Dictionary:
    case MessageKind::CompressedDictionary:
    case MessageKind::Credit:
    case MessageKind::End:
    case MessageKind::Enough:
    case MessageKind::Note: return true;
    default: return false;
  }
}

}  // namespace

ExchangeInput::ExchangeInput(QueryExchanges& owner, uint32_t number, ExchangeLimits limits)
    : owner_(owner), number_(number), limits_(limits), queue_(limits.window_bytes), sources_(static_cast<size_t>(owner.ranks())) {}

Chunk ExchangeInput::unpack(Rows& rows) {
  at::Tensor block = std::exchange(rows.block, at::Tensor());
  if (!block.defined()) return std::exchange(rows.chunk, {});
  try {
    if (rows.is_compressed) block = decompress_block(block);
    SharedDictionaries columns;
    for (const std::shared_ptr<ReceivedDictionary>& dictionary : rows.dictionaries) columns.push_back(dictionary->column());
    return unpack_chunk(block, columns);
  } catch (const PeerError& error) {
    throw PeerError(rows.source, error.message());
  }
}

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
    source.to_give_back += rows.bytes + source.dictionaries.release(rows.dictionary_numbers);
    give_back = take_credit_to_tell(source);
  }
  tell_credit(rows.source, give_back);
}

int64_t ExchangeInput::take_credit_to_tell(Source& source) {
  bool is_enough = source.to_give_back >= limits_.window_bytes / kCreditSteps;
  return is_enough && source.expected < 0 ? std::exchange(source.to_give_back, 0) : 0;
}

void ExchangeInput::tell_credit(int source, int64_t bytes) {
  if (bytes == 0) return;
  if (source == owner_.rank()) {
    owner_.output(number_).on_credit(source, bytes);
  } else {
    owner_.send(source, MessageKind::Credit, number_, bytes);
  }
}

void ExchangeInput::close() {
  {
    std::lock_guard lock(mutex_);
    if (closed_) return;
    closed_ = true;
    for (Source& source : sources_) source.early.clear();
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
  int number = rows.source;
  Source& source = sources_[static_cast<size_t>(number)];
  ++source.received;
  source.bytes += rows.bytes;
  if (number != owner_.rank()) {
    bytes_received_ += rows.bytes;
    ++messages_received_;
  }
  if (complete_) return;
  if (!closed_) {
    source.early.push_back(std::move(rows));
    queue_those_with_dictionaries(source);
  }
  note_progress(number);
}

void ExchangeInput::on_dictionary(int source, DictionaryNumber number, WireBlock block, const std::vector<RetiredDictionary>& retired) {
  int64_t give_back = 0;
  {
    std::lock_guard lock(mutex_);
    Source& from = sources_[static_cast<size_t>(source)];
    int64_t bytes = block.bytes.defined() ? block.bytes.numel() : 0;
    from.bytes += bytes;
    bytes_received_ += bytes;
    ++messages_received_;
    if (complete_ || closed_) return;
    from.dictionaries.add(number, std::move(block));
    from.to_give_back += from.dictionaries.retire(retired);
    queue_those_with_dictionaries(from);
    give_back = take_credit_to_tell(from);
    note_progress(source);
  }
  tell_credit(source, give_back);
}

void ExchangeInput::queue_those_with_dictionaries(Source& source) {
  std::vector<Rows> still_early;
  for (Rows& rows : source.early) {
    std::optional<std::vector<std::shared_ptr<ReceivedDictionary>>> found = source.dictionaries.find(rows.dictionary_numbers);
    if (!found) {
      still_early.push_back(std::move(rows));
      continue;
    }
    rows.dictionaries = std::move(*found);
    int64_t bytes = rows.bytes;
    queue_.push(std::move(rows), bytes);
  }
  source.early = std::move(still_early);
}

void ExchangeInput::on_end(int source, int64_t messages, int64_t dictionaries) {
  std::lock_guard lock(mutex_);
  Source& from = sources_[static_cast<size_t>(source)];
  from.expected = messages;
  from.expected_dictionaries = dictionaries;
  note_progress(source);
}

void ExchangeInput::on_damage(int source, const std::string& problem) {
  std::lock_guard lock(mutex_);
  if (!complete_) fail(source, problem);
}

void ExchangeInput::fail(int source, const std::string& problem) {
  complete_ = true;
  queue_.fail(std::make_exception_ptr(PeerError(source, problem)));
}

void ExchangeInput::note_progress(int number) {
  if (complete_) return;
  Source& source = sources_[static_cast<size_t>(number)];
  if (source.has_ended || source.expected < 0 || source.received < source.expected) return;
  if (!source.early.empty()) {
    if (source.dictionaries.count() < source.expected_dictionaries) return;
    return fail(number, "a message is damaged: it refers to a dictionary that was never sent");
  }
  source.has_ended = true;
  if (!closed_) queue_.push(Rows{.source = number, .number = source.expected, .is_end = true}, 0);
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
    : owner_(owner), number_(number), limits_(limits), compressor_(limits.compress) {
  int64_t dictionary_bytes = limits.window_bytes / kDictionaryShare;
  for (int rank = 0; rank < owner.ranks(); ++rank) peers_.push_back(std::make_unique<Peer>(limits.outgoing_bytes, dictionary_bytes));
}

Task<bool> ExchangeOutput::send(int rank, Chunk chunk) {
  if (!is_wanted(rank)) co_return false;
  Outgoing rows;
  if (rank == owner_.rank()) {
    rows.bytes = std::max<int64_t>(1, chunk.memory_bytes());
    rows.chunk = std::move(chunk);
  } else {
    PackedChunk packed = pack_chunk(chunk, {.least = kSmallDictionary, .most = limits_.window_bytes / kDictionaryShare});
    rows.block = compressor_.wire_form(std::move(packed.block));
    rows.dictionaries = std::move(packed.dictionaries);
    rows.bytes = rows.block.bytes.numel();
  }
  owner_.reach(FaultPoint::BlockPacked);
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
  while (true) {
    Task<std::optional<Outgoing>> taking = peer.waiting.receive();
    std::optional<Outgoing> rows = co_await taking;
    if (!rows) break;
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
  // Only one task sends to the rank, so a dictionary always goes before the first rows that refer to it: what has come there never waits
  // for what waits for credit here.
  SentDictionaries& sent = peers_[static_cast<size_t>(rank)]->dictionaries;
  std::vector<DictionaryNumber> numbers;
  for (const std::shared_ptr<const Column>& dictionary : rows.dictionaries) {
    std::optional<DictionaryNumber> known = sent.refer(dictionary);
    if (!known) {
      WireBlock block = compressor_.wire_form(pack_dictionary(*dictionary));
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
  ++messages_sent_;
  owner_.send(rank, kind, number_, value, std::move(payload), more);
  return bytes;
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
  if (!is_of_exchanges(kind)) return false;
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

QueryExchanges::QueryExchanges(ExchangeHub& hub, int64_t query, size_t count, ExchangeLimits limits, size_t further_topics,
                               FaultPlan* faults)
    : hub_(hub),
      query_(query),
      faults_(faults),
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

std::string QueryExchanges::describe() const {
  std::string text;
  for (size_t number = 0; number < inputs_.size(); ++number)
    text += fmt::format("exchange {}\n{}{}", number, outputs_[number]->describe(), inputs_[number]->describe());
  return text;
}

void QueryExchanges::send(int rank, MessageKind kind, uint32_t number, int64_t value, at::Tensor payload, const std::string& more) {
  switch (kind) {
    case MessageKind::Rows:
    case MessageKind::CompressedRows: reach(FaultPoint::RowsSent); break;
    case MessageKind::End: reach(FaultPoint::EndSent); break;
    case MessageKind::Credit: reach(FaultPoint::CreditSent); break;
    case MessageKind::Enough: reach(FaultPoint::EnoughSent); break;
    default: break;
  }
  ExchangeHead head{query_, number, value, more};
  hub_.transport().send(rank, Message{static_cast<uint16_t>(kind), head.to_bytes(), std::move(payload)});
}

void QueryExchanges::dispatch(int source, Message message) {
  ExchangeHead head = ExchangeHead::of(message.head);
  if (static_cast<MessageKind>(message.kind) == MessageKind::Note) return notes_.on_note(source, head.number, text_of(message.payload));
  if (head.number >= inputs_.size() || source < 0 || source >= ranks()) return;  // of no exchange of this plan
  ExchangeInput& input = *inputs_[head.number];
  ExchangeOutput& output = *outputs_[head.number];
  auto kind = static_cast<MessageKind>(message.kind);
  bool is_compressed = kind == MessageKind::CompressedRows || kind == MessageKind::CompressedDictionary;
  try {
    switch (kind) {
      case MessageKind::Rows:
      case MessageKind::CompressedRows: {
        reach(FaultPoint::RowsReceived);
        if (!message.payload.defined()) throw PeerError("a message is damaged: it has no rows");
        ExchangeInput::Rows rows{.block = std::move(message.payload), .source = source, .number = head.value};
        rows.bytes = rows.block.numel();
        rows.is_compressed = is_compressed;
        rows.dictionary_numbers = numbers_of_bytes(head.more);
        input.on_rows(std::move(rows));
        break;
      }
      case MessageKind::Dictionary:
      case MessageKind::CompressedDictionary:
        input.on_dictionary(source, static_cast<DictionaryNumber>(head.value), {std::move(message.payload), is_compressed},
                            retired_of_bytes(head.more));
        break;
      case MessageKind::End:
        reach(FaultPoint::EndReceived);
        input.on_end(source, head.value, count_of_bytes(head.more));
        break;
      case MessageKind::Credit:
        reach(FaultPoint::CreditReceived);
        output.on_credit(source, head.value);
        break;
      case MessageKind::Enough:
        reach(FaultPoint::EnoughReceived);
        output.on_enough(source);
        break;
      default: break;
    }
  } catch (const PeerError& error) {
    input.on_damage(source, error.message());
  }
}

}  // namespace pistachio
