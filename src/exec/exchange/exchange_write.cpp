#include "exec/exchange/exchange_write.h"

#include <algorithm>

#include "base/scheduler.h"
#include "exec/adaptive/join_filter.h"
#include "exec/core/fault_hook.h"
#include "exec/core/held_chunks.h"
#include "exec/core/memory_relief.h"
#include "expr/expression_evaluator.h"

namespace pistachio {

namespace {

// Bytes of kept rows from which the router is settled with what it has seen, and producers that may wait do.
constexpr int64_t kMaxKept = 32 << 20;
// Larger messages are split: a message must fit into memory and into one send of the transport.
constexpr int64_t kLargestMessage = 64 << 20;
constexpr int64_t kLargestWholeMessage = 512 << 20;  // with schedule.one_message
// Messages to a rank that merges rows, which is on the same host if it can be: shared memory needs no larger ones, and the shorter they
// are, the closer together equal keys of several ranks arrive.
constexpr int64_t kLargestToCombiner = 192 << 10;
// Rows that stay on their rank are not copied into larger messages if they have at least these bytes.
constexpr int64_t kMinUncopied = 64 << 10;
// Memory to route a chunk: hashes, places and the rows by rank.
constexpr int64_t kRoutedBytesPerByte = 2;

// Whether concatenating the pieces decodes no column: then it takes the bytes that they have.
bool keep_their_codes(const std::vector<Chunk>& pieces) {
  auto dictionary_of = [](const Column& column) { return column.is_dictionary() ? column.dictionary_column().get() : nullptr; };
  return std::all_of(pieces.begin(), pieces.end(), [&](const Chunk& piece) {
    for (size_t i = 0; i < piece.column_count(); ++i) {
      if (dictionary_of(piece.column(i)) != dictionary_of(pieces[0].column(i))) return false;
    }
    return true;
  });
}

std::vector<const PhysicalExchange*> exchanges_of(const std::vector<SendingEnd>& chain) {
  std::vector<const PhysicalExchange*> exchanges;
  for (const SendingEnd& end : chain) exchanges.push_back(&end.exchange);
  return exchanges;
}

}  // namespace

ExchangeSink::ExchangeSink(RunContext& context, std::vector<SendingEnd> chain, const std::vector<ColumnId>& layout,
                           std::vector<LogicalType> types, bool may_wait)
    : context_(context),
      exchange_(chain.front().exchange),
      layout_(layout),
      types_(std::move(types)),
      metrics_(chain.front().metrics),
      chain_(std::move(chain)),
      memory_(context.memory.make_child("exchange")),
      router_(make_row_router(context, exchanges_of(chain_), layout, waited_nanoseconds_)),
      is_kept_(router_->must_settle() && !router_->may_route_before()),
      is_settled_(!router_->must_settle()),
      kept_(memory_),
      enough_seen_(0),
      may_wait_(may_wait),
      dictionaries_(layout.size()) {
  for (const SendingEnd& end : chain_) {
    for (int rank = 0; rank < context.exchanges->ranks(); ++rank) {
      Buffer& buffer = *buffers_.emplace_back(std::make_unique<Buffer>());
      buffer.output = &context.exchanges->output(end.exchange.number);
      buffer.rank = rank;
      buffer.message_bytes = message_bytes(end.exchange, rank);
    }
  }
}

bool ExchangeSink::is_full() const {
  return std::all_of(chain_.begin(), chain_.end(), [&](const SendingEnd& end) {
    const ExchangeOutput& output = context_.exchanges->output(end.exchange.number);
    return goes_to_first_rank(end.exchange.kind) ? !output.is_wanted(0) : !output.is_wanted_anywhere();
  });
}

Task<void> ExchangeSink::consume(int, Chunk chunk) {
  if (!is_kept_) {
    if (!is_settled_ && !has_inspected_enough_) inspect(chunk);
  } else if (!is_settled_ && keep(chunk)) {
    if (!may_wait_ || !exceeds_buffer()) co_return;
    Task<std::optional<int>> waiting = settled_.receive();
    co_await waiting;
    co_return;
  }
  Task<void> routing = route(std::move(chunk));
  co_await routing;
}

bool ExchangeSink::exceeds_buffer() {
  std::lock_guard lock(kept_mutex_);
  return !is_settled_ && kept_.bytes() > kMaxKept;
}

// Never waits: another rank, which has not yet inspected enough rows, may need output of this one to get them.
bool ExchangeSink::keep(const Chunk& chunk) {
  WorkTimer timer(metrics_);
  std::lock_guard lock(kept_mutex_);
  if (is_settled_) return false;
  kept_.add(chunk);
  if (!has_inspected_enough_ && (router_->inspect(chunk) || kept_.bytes() > kMaxKept)) end_inspection();
  return true;
}

void ExchangeSink::inspect(const Chunk& chunk) {
  WorkTimer timer(metrics_);
  std::lock_guard lock(kept_mutex_);
  if (!has_inspected_enough_ && router_->inspect(chunk)) end_inspection();
}

void ExchangeSink::publish_filter(const BuildSideFilter& made) {
  WorkTimer timer(metrics_);
  JoinFilter& filter = *context_.filters->at(made.number);
  std::lock_guard lock(kept_mutex_);
  if (is_settled_) return filter.publish_nothing(/*has_no_rows=*/false);  // some rows were already sent
  std::vector<ExpressionPtr> keys;
  std::vector<LogicalType> types;
  for (size_t key : made.keys) {
    keys.push_back(exchange_.keys[key]);
    types.push_back(keys.back()->type());
  }
  ExpressionEvaluator evaluator(keys, layout_);
  std::vector<Chunk> values;
  for (const Chunk& chunk : kept_.chunks()) values.emplace_back(evaluator.evaluate(chunk), chunk.rows(), chunk.device());
  filter.publish_local(concatenate_chunks(values, types, context_.device).columns());
}

void ExchangeSink::end_input() {
  if (exchange_.filter) publish_filter(*exchange_.filter);
  router_->end_of_rows();
  std::lock_guard lock(kept_mutex_);
  end_inspection();
}

void ExchangeSink::end_inspection() {
  has_inspected_enough_ = true;
  enough_seen_.close();
}

Task<void> ExchangeSink::settle() {
  if (is_settled_) co_return;
  Task<std::optional<int>> waiting = enough_seen_.receive();
  co_await waiting;
  Task<void> settling = router_->settle();
  co_await settling;
  std::vector<Chunk> chunks;
  std::vector<Reservation> memory;
  {
    std::lock_guard lock(kept_mutex_);
    chunks = kept_.take_chunks();
    memory = kept_.take_memory();
    is_settled_ = true;
  }
  settled_.close();
  for (Chunk& chunk : chunks) {
    Task<void> routing = route(std::move(chunk));
    co_await routing;
  }
}

Task<void> ExchangeSink::route(Chunk chunk) {
  const TaskContext& task = co_await current_context();
  // Routers count what they route, so this call is not repeated.
  Task<void> preparing = prepare_memory(context_, kRoutedBytesPerByte * chunk.memory_bytes());
  co_await preparing;
  std::vector<Chunk> parts = parts_of(chunk, task.token);
  reach(context_, FaultPoint::RowsPartitioned);
  for (size_t i = 0; i < parts.size(); ++i) {
    const Chunk& part = parts[i];
    Buffer& buffer = *buffers_[i];
    if (part.rows() == 0 || !buffer.output->is_wanted(buffer.rank)) continue;
    if (is_message(buffer, part, chunk)) {
      metrics_.bytes += part.memory_bytes();
      Task<void> passing = send_message(buffer, std::vector<Chunk>(1, part));
      co_await passing;
      continue;
    }
    auto copy = [&] {
      WorkTimer timer(metrics_);
      return own_chunk(part);
    };
    Task<Chunk> copying = with_relief(context_, copy);
    Chunk own = co_await copying;
    std::vector<Chunk> full = add(buffer, std::move(own));
    if (full.empty()) continue;
    Task<void> sending = send(buffer, std::move(full));
    co_await sending;
  }
}

bool ExchangeSink::is_message(const Buffer& buffer, const Chunk& part, const Chunk& chunk) const {
  return buffer.rank == context_.exchanges->rank() && part.rows() == chunk.rows() && !context_.schedule.hold_rows &&
         part.memory_bytes() >= kMinUncopied;
}

int64_t ExchangeSink::message_bytes(const PhysicalExchange& exchange, int rank) const {
  if (exchange.kind != PhysicalExchange::Kind::ToCombiner) return context_.message_bytes;
  const std::vector<int64_t>& hosts = exchange.combining.hosts;
  const bool is_near = hosts[static_cast<size_t>(rank)] == hosts[static_cast<size_t>(context_.exchanges->rank())];
  return is_near ? std::min(context_.message_bytes, kLargestToCombiner) : context_.message_bytes;
}

Task<void> ExchangeSink::flush() {
  for (const std::unique_ptr<Buffer>& buffer : buffers_) {
    std::vector<Chunk> rest;
    {
      std::lock_guard lock(buffer->mutex);
      rest = std::move(buffer->pieces);
    }
    std::vector<Chunk> message;
    int64_t bytes = 0;
    for (size_t i = 0; i < rest.size(); ++i) {
      bytes += rest[i].memory_bytes();
      message.push_back(std::move(rest[i]));
      bool is_full = !context_.schedule.one_message && bytes >= buffer->message_bytes;
      if (!is_full && i + 1 < rest.size()) continue;
      Task<void> sending = send(*buffer, std::exchange(message, {}));
      co_await sending;
      bytes = 0;
    }
  }
}

void ExchangeSink::finish() {
  for (const SendingEnd& end : chain_) context_.exchanges->output(end.exchange.number).finish();
}

// The rows of a chunk for each buffer.
std::vector<Chunk> ExchangeSink::parts_of(const Chunk& chunk, const CancelToken& token) {
  WorkTimer timer(metrics_);
  std::vector<Chunk> parts = router_->parts_of(chunk, token);
  metrics_.rows += chunk.rows();
  metrics_.chunks += 1;
  const auto ranks = static_cast<size_t>(context_.exchanges->ranks());
  for (size_t i = ranks; i < parts.size(); ++i) {
    metrics_.rows -= parts[i].rows();
    chain_[i / ranks].metrics.rows += parts[i].rows();
  }
  return parts;
}

std::vector<Chunk> ExchangeSink::add(Buffer& buffer, Chunk piece) {
  int64_t bytes = std::max<int64_t>(1, piece.memory_bytes());
  std::lock_guard lock(buffer.mutex);
  buffer.pieces.push_back(std::move(piece));
  buffer.bytes += bytes;
  if (context_.schedule.hold_rows) {
    buffer.memory.push_back(memory_.reserve_now(bytes, ReservationKind::Held));
    return {};
  }
  if (buffer.bytes < buffer.message_bytes) return {};
  buffer.bytes = 0;
  return std::exchange(buffer.pieces, {});
}

Task<void> ExchangeSink::send(Buffer& buffer, std::vector<Chunk> pieces) {
  auto merge = [&] { return dictionaries_.merge(pieces); };
  Task<std::vector<Chunk>> merging = with_relief(context_, merge);
  pieces = co_await merging;
  auto concatenate = [&] { return concatenate_chunks(pieces, types_, context_.device); };
  // Pieces for other ranks are copied once, into the message; from a GPU, together.
  const bool stays_in_pieces = buffer.rank != context_.exchanges->rank() && context_.device.is_cpu() && keep_their_codes(pieces);
  if (pieces.size() > 1 && !stays_in_pieces) {
    Task<Chunk> concatenating = with_relief(context_, concatenate);
    Chunk rows = co_await concatenating;
    pieces.assign(1, std::move(rows));
  }
  int64_t bytes = 0;
  for (const Chunk& piece : pieces) bytes += piece.memory_bytes();
  metrics_.bytes += bytes;
  const int64_t limit = context_.schedule.one_message ? kLargestWholeMessage : std::max(context_.message_bytes, kLargestMessage);
  if (bytes < limit) {
    Task<void> sending = send_message(buffer, std::move(pieces));
    co_await sending;
    // The reader of this message, or of one that arrived here, comes first: it may be on the way to a link that idles meanwhile.
    co_await reschedule();
    co_return;
  }
  if (pieces.size() > 1) {
    Task<Chunk> concatenating = with_relief(context_, concatenate);
    Chunk rows = co_await concatenating;
    pieces.assign(1, std::move(rows));
  }
  const Chunk rows = std::move(pieces[0]);
  const int64_t parts = std::min(rows.rows(), rows.memory_bytes() / limit + 1);
  for (int64_t part = 0; part < parts; ++part) {
    int64_t begin = rows.rows() * part / parts;
    int64_t end = rows.rows() * (part + 1) / parts;
    Task<void> sending = send_message(buffer, std::vector<Chunk>(1, own_chunk(rows.slice(begin, end - begin))));
    co_await sending;
  }
}

Task<void> ExchangeSink::send_message(Buffer& buffer, std::vector<Chunk> pieces) {
  Task<bool> sending = buffer.output->send(buffer.rank, std::move(pieces), &waited_nanoseconds_);
  co_await sending;
}

}  // namespace pistachio
