#include "frontend/bench/all_to_all.h"

#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <chrono>

#include "base/byte_stream.h"
#include "base/error.h"

namespace pistachio {

namespace {

constexpr uint16_t kBeginKind = 200;
constexpr uint16_t kDataKind = 201;
constexpr uint16_t kDoneKind = 202;

}  // namespace

std::string AllToAll::pack(const Round& round) {
  ByteWriter writer;
  writer.put(round.number);
  writer.put(round.message_bytes);
  writer.put(round.messages);
  writer.put(round.pattern);
  return writer.take();
}

std::optional<AllToAll::Round> AllToAll::unpack(const std::string& bytes) {
  try {
    ByteReader reader(bytes);
    Round round;
    round.number = reader.get<int64_t>();
    round.message_bytes = reader.get<int64_t>();
    round.messages = reader.get<int64_t>();
    round.pattern = reader.get<Pattern>();
    return round;
  } catch (const PeerError&) {
    return std::nullopt;  // the first rank keeps waiting until this rank is lost or the user cancels
  }
}

bool AllToAll::sends(const Round& round, int from, int to) const {
  if (from == to) return false;
  return round.pattern == Pattern::AllPairs || (from == 0 && to == 1);
}

int64_t AllToAll::expected(const Round& round) const {
  int64_t messages = 0;
  for (int other = 0; other < transport_.ranks(); ++other) {
    if (sends(round, other, transport_.rank())) messages += round.messages;
  }
  return messages;
}

double AllToAll::run(Pattern pattern, int64_t message_bytes, int64_t messages, const CancelToken& token) {
  CancelCallback wake(token, [&] {
    std::lock_guard lock(mutex_);
    changed_.notify_all();
  });
  Round round{.number = 0, .message_bytes = message_bytes, .messages = messages, .pattern = pattern};
  {
    std::lock_guard lock(mutex_);
    round.number = ++number_;
    finished_.clear();
  }
  auto begin = std::chrono::steady_clock::now();
  for (int rank = 0; rank < transport_.ranks(); ++rank) transport_.send(rank, {kBeginKind, pack(round), {}});
  std::unique_lock lock(mutex_);
  auto all_done = [&] { return static_cast<int>(finished_.size()) == transport_.ranks(); };
  changed_.wait(lock, [&] { return all_done() || !lost_.empty() || token.is_cancelled(); });
  token.throw_if_cancelled();
  if (!all_done()) throw PeerError(lost_.begin()->first, lost_.begin()->second);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void AllToAll::wait(const CancelToken& token) {
  CancelCallback wake(token, [&] {
    std::lock_guard lock(mutex_);
    changed_.notify_all();
  });
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return lost_.contains(0) || token.is_cancelled(); });
  token.throw_if_cancelled();
}

void AllToAll::begin(const Round& round) {
  if (!payload_.defined() || payload_.numel() < round.message_bytes) payload_ = at::zeros({round.message_bytes}, at::kByte);
  at::Tensor part = payload_.slice(0, 0, round.message_bytes);
  // Round-robin over the receivers, so that none of them waits for another one's messages.
  for (int64_t i = 0; i < round.messages; ++i) {
    for (int step = 1; step < transport_.ranks(); ++step) {
      int peer = (transport_.rank() + step) % transport_.ranks();
      if (sends(round, transport_.rank(), peer)) transport_.send(peer, {kDataKind, pack(round), part});
    }
  }
  {
    std::lock_guard lock(mutex_);
    rounds_[round.number].has_begun = true;
  }
  report_if_complete(round);
}

void AllToAll::report_if_complete(const Round& round) {
  {
    std::lock_guard lock(mutex_);
    const Progress& progress = rounds_[round.number];
    if (!progress.has_begun || progress.received < expected(round)) return;
    rounds_.erase(round.number);
  }
  transport_.send(0, {kDoneKind, pack(round), {}});
}

void AllToAll::on_message(int source, Message message) noexcept {
  try {
    std::optional<Round> round = unpack(message.head);
    if (!round) return;
    if (message.kind == kBeginKind) {
      begin(*round);
    } else if (message.kind == kDataKind) {
      {
        std::lock_guard lock(mutex_);
        rounds_[round->number].received += 1;
      }
      report_if_complete(*round);
    } else if (message.kind == kDoneKind) {
      std::lock_guard lock(mutex_);
      if (round->number == number_) finished_.insert(source);
      changed_.notify_all();
    }
  } catch (const std::exception& problem) {
    // Probably out of memory: record a loss, so that run() or wait() returns.
    on_peer_lost(source, fmt::format("rank {} cannot continue: {}", transport_.rank(), problem.what()));
  }
}

void AllToAll::on_peer_lost(int peer, std::string why) noexcept {
  std::lock_guard lock(mutex_);
  lost_.emplace(peer, std::move(why));
  changed_.notify_all();
}

}  // namespace pistachio
