#include "cluster/rank_service.h"

#include <ATen/core/Tensor.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/byte_stream.h"
#include "base/start_thread.h"
#include "cluster/exchange_tuning.h"
#include "cluster/loss_report.h"
#include "cluster/rank_files.h"
#include "engine/query_pipeline.h"
#include "network/message_limits.h"
#include "network/message_payload.h"
#include "physical/physical_plan_checker.h"
#include "physical/plan_serializer.h"

namespace pistachio {

namespace {

// For the last message of a part when memory has run out.
constexpr int kFinishAttempts = 10;
constexpr std::chrono::milliseconds kFinishPause{10};

RemoteError loss_of(int rank, const std::string& why) {
  return {.kind = RemoteError::Kind::Peer, .message = why, .position = -1, .rank = rank, .lost_rank = rank};
}

// Messages of exchanges and queries start with the number of their query; -1 for other messages.
int64_t query_of(const Message& message) {
  bool is_of_query = message.kind <= static_cast<uint16_t>(MessageKind::Cancel) && message.head.size() >= sizeof(int64_t);
  return is_of_query ? ByteReader(message.head).get<int64_t>() : -1;
}

RemoteError refusal_of_message(int source, int rank) noexcept {
  try {
    std::string text = fmt::format("out of memory: a message of rank {} does not fit; raise memory_limit", source);
    return {.kind = RemoteError::Kind::OutOfMemory, .message = std::move(text), .position = -1, .rank = rank};
  } catch (...) {
    return RemoteError::of(std::current_exception(), rank);
  }
}

}  // namespace

RankService::RankService(EngineInstance& engine, Transport& transport, RankServiceOptions options)
    : engine_(engine),
      transport_(transport),
      options_(std::move(options)),
      membership_(transport.ranks(), options_.ranks_return, options_.timeout),
      hub_(transport, options_.links.hosts),
      links_(transport, options_.links),
      memory_(transport, engine.governor(), options_.host) {
  hub_.begin_at(options_.first_query);
  transport_.start(*this);
  if (options_.incarnation > 0) send(0, MessageKind::Met, rank(), pack_incarnation(options_.incarnation));
}

RankService::~RankService() {
  std::vector<std::thread> threads;
  {
    std::lock_guard lock(mutex_);
    is_stopping_ = true;
    for (auto& [number, query] : queries_) {
      query->source.cancel("the rank is shutting down");
      if (query->thread.joinable()) threads.push_back(std::move(query->thread));
    }
  }
  for (std::thread& thread : threads) thread.join();
  links_.stop();
  transport_.stop();
}

void RankService::send(int rank, MessageKind kind, int64_t number, const std::string& body) {
  ByteWriter head;
  head.put(number);
  transport_.send(rank, Message{static_cast<uint16_t>(kind), head.take(), body.empty() ? at::Tensor() : payload_of(body)});
}

void RankService::prepare_links(const Settings& settings, const CancelToken& token) {
  if (!settings.calibrate_links || !settings.dynamic_buffering || settings.message_bytes != 0) return;
  try {
    links_.measure(token);
  } catch (const Cancelled&) {
    throw;
  } catch (const Error&) {
    // A lost rank fails the query anyway; if memory ran out, messages get a default size.
  }
}

std::shared_ptr<FaultPlan> RankService::faults_of(const Settings& settings, bool is_retry) {
  // Settings come from the first rank; whether this process permits faults was decided when it was started.
  const std::string where = engine_.settings().allow_faults && !is_retry ? settings.fault_at : "";
  return std::make_shared<FaultPlan>(where, rank(), [this] { transport_.cut(); });
}

void RankService::add_report(RemoteError& error, const std::string& progress) const {
  if (options_.report_folder.empty()) return;
  std::string messages = transport_.recent_messages();
  std::string text = fmt::format("{}\n\nmessages of rank {}, oldest first\n{}\n{}", error.message, rank(), messages, progress);
  std::string path = write_loss_report(options_.report_folder, rank(), text);
  if (!path.empty()) error.message += fmt::format("; the last messages of rank {} are in {}", rank(), path);
}

int64_t RankService::next_query() const {
  std::lock_guard lock(mutex_);
  return next_number_;
}

std::vector<std::optional<MemoryFigures>> RankService::memory(const CancelToken& token, const Settings& settings) {
  std::vector<int> lost;
  for (const LostRank& one : membership_.lost()) lost.push_back(one.rank);
  return memory_.ask(token, lost, std::chrono::milliseconds(settings.peer_timeout));
}

void RankService::begin_rejoin(const RankInfo& info) {
  std::vector<LostRank> lost = membership_.lost();
  membership_.begin_rejoin(info.rank, info.incarnation);
  transport_.replace(info);
  std::string body = pack_rank(info);
  for (int other = 1; other < ranks(); ++other) {
    bool is_there = other != info.rank && std::none_of(lost.begin(), lost.end(), [&](const LostRank& one) { return one.rank == other; });
    if (is_there) send(other, MessageKind::Replaced, info.rank, body);
  }
}

std::string RankService::wait(const CancelToken& token) {
  CancelCallback wake(token, [&] {
    std::lock_guard lock(mutex_);
    changed_.notify_all();
  });
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return membership_.is_lost(0) || !given_up_.empty() || token.is_cancelled(); });
  token.throw_if_cancelled();
  if (!given_up_.empty()) throw PeerError(fmt::format("rank 0 has given up rank {}: {}", rank(), given_up_));
  return membership_.why_lost(0);
}

void RankService::on_message(int source, Message message) noexcept {
  int64_t query = -1;
  try {
    query = query_of(message);
    dispatch(source, message);
  } catch (...) {
    // Malformed, or out of memory: the message is lost, so its query must fail.
    if (query >= 0) fail_query(query, RemoteError::of(std::current_exception(), rank()));
  }
}

// A message arrived that did not fit into memory: its query must fail.
void RankService::note_unreceived(int source, const std::string& head) {
  ByteReader reader(head);
  auto kind = reader.get<MessageKind>();
  if (kind > MessageKind::Cancel) return;  // not of a query; its waiters time out
  auto number = reader.get<int64_t>();
  RemoteError error = refusal_of_message(source, rank());
  if (kind == MessageKind::Plan) {
    hub_.forget(number);
    return finish_part(number, {std::move(error), {}});
  }
  if (kind == MessageKind::Finished) return note_finished(number, source, PartResult{std::move(error), {}}.to_bytes());
  fail_query(number, std::move(error));
}

void RankService::dispatch(int source, Message& message) {
  if (message.kind == kUnreceivedKind) return note_unreceived(source, message.head);
  if (hub_.take(source, message) || links_.take(source, message) || memory_.take(source, message)) return;
  ByteReader head(message.head);
  auto number = head.get<int64_t>();
  switch (static_cast<MessageKind>(message.kind)) {
    case MessageKind::Plan:
      if (source == 0) start_query(number, message);
      break;
    case MessageKind::Finished: note_finished(number, source, text_of(message.payload)); break;
    case MessageKind::Cancel:
      if (source == 0) note_cancel(number, text_of(message.payload));
      break;
    case MessageKind::Replaced: note_replaced(source, text_of(message.payload)); break;
    case MessageKind::Met:
      membership_.note_connected(static_cast<int>(number), unpack_incarnation(text_of(message.payload)), source);
      break;
    case MessageKind::GivenUp:
      if (source == 0) note_given_up(text_of(message.payload));
      break;
    default: break;
  }
}

void RankService::note_cancel(int64_t number, const std::string& reason) {
  std::shared_ptr<FaultPlan> faults;
  {
    std::lock_guard lock(mutex_);
    auto found = queries_.find(number);
    if (found == queries_.end()) {
      early_outcomes_.add_cancel(number);
      hub_.forget(number);  // its plan may never come, and rows of other ranks have
      return;
    }
    faults = found->second->faults;
  }
  faults->reach(FaultPoint::CancelReceived);
  std::lock_guard lock(mutex_);
  auto found = queries_.find(number);
  if (found != queries_.end()) found->second->source.cancel(reason);
}

void RankService::note_given_up(std::string why) {
  std::lock_guard lock(mutex_);
  given_up_ = std::move(why);
  changed_.notify_all();
}

void RankService::note_replaced(int source, const std::string& bytes) {
  RankInfo info = unpack_rank(bytes);
  bool is_possible = source == 0 && info.rank > 0 && info.rank < ranks() && info.rank != rank();
  if (is_possible) transport_.replace(std::move(info));
}

void RankService::on_peer_replaced(const RankInfo& peer) noexcept {
  try {
    links_.on_peer_replaced(peer);
    if (rank() == 0) return membership_.note_connected(peer.rank, peer.incarnation, 0);
    membership_.restore(peer.rank);
    send(0, MessageKind::Met, peer.rank, pack_incarnation(peer.incarnation));
  } catch (const std::exception&) {
    // Out of memory for the message: the first rank never learns that this one is connected, and gives up after a timeout.
  }
}

void RankService::start_query(int64_t number, const Message& message) {
  std::lock_guard lock(mutex_);
  if (is_stopping_ || queries_.contains(number)) return;
  for (auto it = queries_.begin(); it != queries_.end();) {
    bool has_ended = it->second->has_ended;
    if (has_ended && it->second->thread.joinable()) it->second->thread.join();
    it = has_ended ? queries_.erase(it) : std::next(it);
  }
  try {
    auto query = std::make_unique<RunningQuery>(CancelToken());
    if (early_outcomes_.take_cancel(number)) query->source.cancel("the query was cancelled");
    for (const LostRank& lost : membership_.lost()) query->fail(loss_of(lost.rank, lost.why));
    if (std::optional<RemoteError> early = early_outcomes_.take_failure(number)) query->fail(std::move(*early));
    auto part = [this, number, bytes = text_of(message.payload), token = query->source.token()] { run_part(number, bytes, token); };
    // Its thread finds the query there, and nothing may fail once it runs.
    RunningQuery& kept = *queries_.emplace(number, std::move(query)).first->second;
    kept.thread = start_thread("a query of another rank", "raise the limit on processes", part, kDeepStackBytes);
  } catch (...) {
    queries_.erase(number);
    hub_.forget(number);
    finish_part(number, PartResult{RemoteError::of(std::current_exception(), rank()), {}});
  }
}

void RankService::finish_part(int64_t number, const PartResult& result) noexcept {
  try {
    return send(0, MessageKind::Finished, number, result.to_bytes());
  } catch (...) {
  }
  // Out of memory: an empty body needs hardly any memory and at least reports to rank 0 that something failed.
  for (int attempt = 0; attempt < kFinishAttempts; ++attempt) {
    try {
      return send(0, MessageKind::Finished, number, "");
    } catch (...) {
      std::this_thread::sleep_for(kFinishPause);
    }
  }
  transport_.cut();
}

void RankService::explain_failure(int64_t number, RemoteError& error, const std::string& progress) {
  {
    std::lock_guard lock(mutex_);
    const std::optional<RemoteError>& of_others = queries_.at(number)->error;
    if (error.kind == RemoteError::Kind::Cancelled && of_others) error = RemoteError(*of_others);
  }
  if (error.kind != RemoteError::Kind::Peer) return;
  // The first rank may not know of the loss yet, or may still reach that rank.
  error.message += fmt::format(" (seen by rank {})", rank());
  add_report(error, progress);
}

void RankService::run_part(int64_t number, const std::string& bytes, const CancelToken& token) noexcept {
  PartResult result;
  std::optional<RemoteError>& error = result.error;
  std::string progress;
  try {
    result.profile = take_part(number, bytes, token, progress);
  } catch (...) {
    error = RemoteError::of(std::current_exception(), rank());
  }
  hub_.forget(number);
  try {
    if (error) explain_failure(number, *error, progress);
  } catch (...) {
    // Out of memory: the error is reported as it is.
  }
  std::shared_ptr<FaultPlan> faults;
  {
    std::lock_guard lock(mutex_);
    faults = queries_.at(number)->faults;  // the query goes when this thread has ended
  }
  try {
    faults->reach(FaultPoint::FinishedSent);
  } catch (...) {
    if (!error) error = RemoteError::of(std::current_exception(), rank());
  }
  finish_part(number, result);
  std::lock_guard lock(mutex_);
  auto found = queries_.find(number);
  if (found != queries_.end()) found->second->has_ended = true;
}

RankProfile RankService::take_part(int64_t number, const std::string& bytes, const CancelToken& token, std::string& progress) {
  ByteReader reader(bytes);
  Settings settings = get_settings(reader);
  const ExchangeTuning tuning = get_tuning(reader);
  bool watched = reader.get<uint8_t>() != 0;
  bool is_retry = reader.get<uint8_t>() != 0;
  std::shared_ptr<FaultPlan> faults = faults_of(settings, is_retry);
  {
    std::lock_guard lock(mutex_);
    queries_.at(number)->faults = faults;
  }
  faults->reach(FaultPoint::PlanReceived);
  EngineInstance::QueryScope scope(engine_, settings, EngineInstance::QueryScope::Use::Operators);
  auto open = [&](const std::string& name, TableListing listing) {
    return Table::of_files(name, engine_.scheduler().run(open_rank_table(scope.storage(), std::move(listing), rank()), token));
  };
  PhysicalPlan plan = deserialize_plan(reader.get_text(), open);
  check_physical_plan(plan, token);
  PlanRun own_part(plan, token, rank());
  faults->reach(FaultPoint::TablesOpened);
  QueryExchanges exchanges(hub_, number, plan.exchanges, tuning.limits, extra_control_topics(plan), faults.get());
  const RunPeers peers{exchanges, tuning.buffered_bytes, watched};
  RankProfile profile;
  try {
    profile = own_part.run(engine_, scope, /*receiver=*/nullptr, token, &peers);
  } catch (...) {
    progress = exchanges.describe();
    throw;
  }
  faults->reach(FaultPoint::PartEnded);
  return profile;
}

void RankService::fail_query(int64_t number, RemoteError error) noexcept {
  std::lock_guard lock(mutex_);
  auto found = queries_.find(number);
  if (found != queries_.end()) return found->second->fail(std::move(error));
  early_outcomes_.add_failure(number, std::move(error));  // its plan may still come
}

void RankService::note_loss(int peer, const std::string& why, Membership::LossSource witness) noexcept {
  try {
    links_.on_peer_lost(peer, why);
    memory_.on_peer_lost(peer);
    membership_.lose(peer, why, witness);
    std::lock_guard lock(mutex_);
    for (auto& [number, query] : queries_) {
      query->running.erase(peer);
      query->fail(loss_of(peer, why));
    }
    changed_.notify_all();
  } catch (const std::exception&) {
    // Out of memory for the text: the query still ends, by its deadline or its user.
  }
}

}  // namespace pistachio
