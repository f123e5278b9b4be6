#include "network/exchange_hub.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>

#include "base/byte_stream.h"
#include "base/check.h"
#include "base/error.h"
#include "network/message_payload.h"

namespace pistachio {

namespace {

// Ended queries to remember; messages of older ones have long been drained.
constexpr size_t kEndedQueries = 256;

struct ExchangeHead {
  int64_t query = 0;
  uint32_t number = 0;
  int64_t value = 0;
  std::string_view more;  // bytes after the head; a view of the input

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
    case MessageKind::Note:
    case MessageKind::AskUnit:
    case MessageKind::GiveUnit: return true;
    default: return false;
  }
}

}  // namespace

bool ExchangeHub::crosses_network(int rank) const {
  const bool is_one_host = std::adjacent_find(hosts_.begin(), hosts_.end(), std::not_equal_to<>()) == hosts_.end();
  return is_one_host || hosts_[static_cast<size_t>(rank)] != hosts_[static_cast<size_t>(transport_.rank())];
}

bool ExchangeHub::take(int source, Message& message) {
  auto kind = static_cast<MessageKind>(message.kind);
  if (!is_of_exchanges(kind)) return false;
  int64_t query = 0;
  try {
    query = ExchangeHead::of(message.head).query;
  } catch (const PeerError&) {
    return true;  // malformed: no one waits for it
  }
  // Held while dispatching, so that close() waits for the dispatch to finish.
  std::lock_guard lock(mutex_);
  auto found = open_.find(query);
  if (found == open_.end() && kind == MessageKind::AskUnit) {
    answer_none(source, message);
  } else if (query < first_query_ || ended_.contains(query)) {
    return true;
  } else if (found == open_.end()) {
    early_[query].push_back({source, std::move(message)});
  } else {
    found->second->dispatch(source, std::move(message));
  }
  return true;
}

// The asking rank waits for an answer; a query that has ended or not begun has no units to give.
void ExchangeHub::answer_none(int source, const Message& question) {
  ExchangeHead head = ExchangeHead::of(question.head);
  head.value = ScanShares::kNone;
  transport_.send(source, Message{static_cast<uint16_t>(MessageKind::GiveUnit), head.to_bytes(), {}});
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
    open_.erase(query);  // the exchanges were never constructed
    throw;
  }
  early_.erase(found);
}

void ExchangeHub::close(int64_t query) noexcept {
  std::lock_guard lock(mutex_);
  open_.erase(query);
  early_.erase(query);
  try {
    ended_.insert(query);
  } catch (const std::bad_alloc&) {
    return;  // late messages of the query are kept as if its plan were still to come
  }
  if (ended_.size() > kEndedQueries) ended_.erase(ended_.begin());
}

QueryExchanges::QueryExchanges(ExchangeHub& hub, int64_t query, size_t count, ExchangeLimits limits, size_t further_topics,
                               FaultPlan* faults)
    : hub_(hub),
      query_(query),
      faults_(faults),
      notes_(hub.transport().rank(), hub.transport().ranks(), static_cast<uint32_t>(count + further_topics),
             [this](int rank, uint32_t topic, const std::string& note) { send(rank, MessageKind::Note, topic, 0, payload_of(note)); }),
      scan_shares_([this](int rank, uint32_t scan) { send(rank, MessageKind::AskUnit, scan, 0); },
                   [this](int rank, uint32_t scan, int64_t unit) { send(rank, MessageKind::GiveUnit, scan, unit); }) {
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

void QueryExchanges::send(int rank, MessageKind kind, uint32_t number, int64_t value, at::Tensor payload, const std::string& more,
                          int urgency) {
  switch (kind) {
    case MessageKind::Rows:
    case MessageKind::CompressedRows: reach(FaultPoint::RowsSent); break;
    case MessageKind::End: reach(FaultPoint::EndSent); break;
    case MessageKind::Credit: reach(FaultPoint::CreditSent); break;
    case MessageKind::Enough: reach(FaultPoint::EnoughSent); break;
    default: break;
  }
  ExchangeHead head{query_, number, value, more};
  hub_.transport().send(rank, Message{static_cast<uint16_t>(kind), head.to_bytes(), std::move(payload), urgency});
}

void QueryExchanges::dispatch(int source, Message message) {
  ExchangeHead head = ExchangeHead::of(message.head);
  auto kind = static_cast<MessageKind>(message.kind);
  if (kind == MessageKind::Note) return notes_.on_note(source, head.number, text_of(message.payload));
  if (kind == MessageKind::AskUnit) return scan_shares_.on_question(source, head.number);
  if (kind == MessageKind::GiveUnit) return scan_shares_.on_answer(source, head.number, head.value);
  if (head.number >= inputs_.size() || source < 0 || source >= ranks()) return;  // not an exchange of this plan
  ExchangeInput& input = *inputs_[head.number];
  ExchangeOutput& output = *outputs_[head.number];
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
        if (head.value < 0) throw PeerError("a message is damaged: it ends an exchange before its beginning");
        input.on_end(source, head.value, count_of_bytes(head.more));
        break;
      case MessageKind::Credit:
        reach(FaultPoint::CreditReceived);
        if (head.value < 0) throw PeerError("a message is damaged: its credit is negative");
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
