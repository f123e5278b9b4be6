#include "cluster/rank_memory.h"

#include <unistd.h>

#include <algorithm>

#include "base/byte_stream.h"
#include "network/message_kind.h"

namespace pistachio {

namespace {

constexpr std::chrono::milliseconds kMemoryPoll{20};

Message message_of(MessageKind kind, ByteWriter& head) {
  return {static_cast<uint16_t>(kind), head.take(), {}};
}

}  // namespace

MemoryFigures memory_figures(const MemoryGovernor& governor, const std::string& host) {
  return {.host = host, .used = governor.used(), .peak = governor.peak(), .limit = governor.limit()};
}

std::string name_of_this_host() {
  char name[256] = {};
  return ::gethostname(name, sizeof(name) - 1) == 0 ? name : "unknown";
}

RankMemory::RankMemory(Transport& transport, const MemoryGovernor& governor, std::string host)
    : transport_(transport), governor_(governor), host_(host.empty() ? name_of_this_host() : std::move(host)) {}

std::vector<std::optional<MemoryFigures>> RankMemory::ask(const CancelToken& token, const std::vector<int>& lost,
                                                          std::chrono::milliseconds timeout) {
  auto end = std::chrono::steady_clock::now() + timeout;
  std::vector<std::optional<MemoryFigures>> figures(static_cast<size_t>(transport_.ranks()));
  std::unique_lock lock(mutex_);
  int64_t number = next_number_++;
  Question& question = questions_[number];
  for (int rank = 0; rank < transport_.ranks(); ++rank) {
    bool is_asked = rank != transport_.rank() && std::find(lost.begin(), lost.end(), rank) == lost.end();
    if (is_asked) question.answers.emplace(rank, std::nullopt);
  }
  struct Removal {
    RankMemory& owner;
    int64_t number;
    ~Removal() { owner.questions_.erase(number); }
  } removal{*this, number};  // destroyed before `lock`, so it runs under the lock
  for (const auto& [rank, answer] : question.answers) {
    ByteWriter head;
    head.put(number);
    transport_.send(rank, message_of(MessageKind::AskMemory, head));
  }
  auto is_complete = [&] {
    return std::all_of(question.answers.begin(), question.answers.end(), [](const auto& one) { return one.second.has_value(); });
  };
  while (!is_complete() && std::chrono::steady_clock::now() < end) {
    if (token.deadline() && std::chrono::steady_clock::now() >= *token.deadline()) token.expire();
    token.throw_if_cancelled();
    changed_.wait_for(lock, kMemoryPoll);
  }
  for (auto& [rank, answer] : question.answers) figures[static_cast<size_t>(rank)] = std::move(answer);
  figures[static_cast<size_t>(transport_.rank())] = memory_figures(governor_, host_);
  return figures;
}

bool RankMemory::take(int source, const Message& message) {
  auto kind = static_cast<MessageKind>(message.kind);
  if (kind != MessageKind::AskMemory && kind != MessageKind::ReportMemory) return false;
  ByteReader reader(message.head);
  auto number = reader.get<int64_t>();
  if (kind == MessageKind::AskMemory) {
    MemoryFigures own = memory_figures(governor_, host_);
    ByteWriter head;
    head.put(number);
    head.put_text(own.host);
    for (int64_t figure : {own.used, own.peak, own.limit}) head.put(figure);
    transport_.send(source, message_of(MessageKind::ReportMemory, head));
    return true;
  }
  MemoryFigures figures;
  figures.host = reader.get_text();
  for (int64_t* figure : {&figures.used, &figures.peak, &figures.limit}) *figure = reader.get<int64_t>();
  std::lock_guard lock(mutex_);
  auto question = questions_.find(number);
  if (question == questions_.end()) return true;
  auto answer = question->second.answers.find(source);
  if (answer != question->second.answers.end()) answer->second = std::move(figures);
  changed_.notify_all();
  return true;
}

void RankMemory::on_peer_lost(int peer) {
  std::lock_guard lock(mutex_);
  for (auto& [number, question] : questions_) question.answers.erase(peer);
  changed_.notify_all();
}

}  // namespace pistachio
