#include "network/exchange_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/format_bytes.h"
#include "columns/chunk_packing.h"
#include "network/exchange_hub.h"

namespace pistachio {

namespace {

// Credit is returned in steps of this fraction of the window, to save messages.
constexpr int64_t kCreditSteps = 4;

}  // namespace

ExchangeInput::ExchangeInput(QueryExchanges& owner, uint32_t number, ExchangeLimits limits)
    : owner_(owner), number_(number), limits_(limits), queue_(limits.window_bytes), sources_(static_cast<size_t>(owner.ranks())) {}

Chunk ExchangeInput::unpack(Rows& rows) {
  ChunkCopier copier(at::kCPU);
  return unpack(rows, copier);
}

Chunk ExchangeInput::unpack(Rows& rows, ChunkCopier& copier) {
  at::Tensor block = std::exchange(rows.block, at::Tensor());
  if (!block.defined()) return copier.copy(std::exchange(rows.chunk, {}));
  try {
    if (rows.is_compressed) block = decompress_block(block);
    SharedDictionaries columns;
    for (const std::shared_ptr<ReceivedDictionary>& dictionary : rows.dictionaries)
      columns.push_back(copier.dictionary_copy(dictionary->column()));
    return unpack_chunk(block, columns, copier.device());
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

std::optional<ExchangeInput::Rows> ExchangeInput::take() {
  while (true) {
    std::optional<Rows> rows = queue_.take();
    if (!rows || !rows->is_end) return rows;
  }
}

void ExchangeInput::release(const Rows& rows) {
  int64_t give_back = 0;
  {
    std::lock_guard lock(mutex_);
    Source& source = sources_[static_cast<size_t>(rows.source)];
    source.to_give_back += rows.bytes + source.dictionaries.release(rows.dictionary_numbers);
    give_back = take_credit_due(source);
  }
  send_credit(rows.source, give_back);
}

int64_t ExchangeInput::take_credit_due(Source& source) {
  bool is_enough = source.to_give_back >= limits_.window_bytes / kCreditSteps;
  return is_enough && source.expected < 0 ? std::exchange(source.to_give_back, 0) : 0;
}

void ExchangeInput::send_credit(int source, int64_t bytes) {
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
    queue_complete_rows(source);
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
    queue_complete_rows(from);
    give_back = take_credit_due(from);
    note_progress(source);
  }
  send_credit(source, give_back);
}

void ExchangeInput::queue_complete_rows(Source& source) {
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
  figures.senders_stalled += queue.senders_stalled;  // local senders only: rows of other ranks are pushed
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
    text += fmt::format("  from {}: {} messages ({}), {}, {} consumed but not credited\n", rank, source.received, expected,
                        format_bytes(source.bytes), format_bytes(source.to_give_back));
  }
  return text;
}

}  // namespace pistachio
