// The part of RankService that only the first rank has: it sends plans to the others and waits until they finish.
#include <fmt/format.h>

#include <chrono>

#include "base/byte_stream.h"
#include "base/check.h"
#include "cluster/rank_messages.h"
#include "cluster/rank_service.h"
#include "engine/query_pipeline.h"
#include "physical/plan_serializer.h"

namespace pistachio {

std::vector<RankProfile> RankService::run(const PhysicalPlan& plan, EngineInstance::QueryScope& scope, ResultReceiver& receiver,
                                          const CancelToken& token, bool watched) {
  ENSURE_EQ(rank(), 0);
  PlanRun own_part(plan);
  Settings settings = scope.storage().settings;
  if (settings.network_compression == NetworkCompression::Auto) settings.network_compression = suitable_compression(settings);
  ExchangeLimits exchange_limits = limits(settings, plan.exchanges);
  if (settings.message_bytes == 0) settings.message_bytes = suitable_message_bytes(exchange_limits);
  ByteWriter body;
  put_settings(body, settings);
  body.put<uint8_t>(watched ? 1 : 0);
  body.put_text(serialize_plan(plan));
  std::string bytes = body.take();

  std::shared_ptr<FaultPlan> faults = faults_of(settings);
  int64_t number = 0;
  Query* query = nullptr;
  {
    std::lock_guard lock(mutex_);
    membership_.require_all();
    number = next_number_++;
    query = queries_.emplace(number, std::make_unique<Query>(token)).first->second.get();
    query->faults = faults;
    query->losses_before = membership_.losses();
    for (int other = 1; other < ranks(); ++other) query->running.insert(other);
  }
  // Removes the query on every exit; later messages do not find it.
  struct Removal {
    RankService& service;
    int64_t number;
    ~Removal() {
      std::lock_guard lock(service.mutex_);
      service.queries_.erase(number);
    }
  } removal{*this, number};

  const int64_t read_before = scope.read_pool().statistics().bytes;  // includes failed attempts
  std::exception_ptr own_error;
  std::string progress;  // of the exchanges at the time of the error
  std::vector<RankProfile> profiles(static_cast<size_t>(ranks()));
  {
    QueryExchanges exchanges(hub_, number, plan.exchanges, exchange_limits, further_note_topics(plan), faults.get());
    int told = 1;
    try {
      for (; told < ranks(); ++told) {
        faults->reach(FaultPoint::PlanSent);
        send(told, MessageKind::Plan, number, bytes);
      }
      const RunPeers peers{exchanges, gathered_bytes(settings), watched};
      profiles[0] = own_part.run(engine_, scope, &receiver, query->source.token(), &peers);
      profiles[0].bytes_read -= read_before;
    } catch (...) {
      own_error = std::current_exception();
      progress = exchanges.describe();
    }
    // Ranks that never got the plan will not report an end.
    std::lock_guard lock(mutex_);
    for (; told < ranks(); ++told) query->running.erase(told);
  }
  if (own_error) cancel_everywhere(number, "another rank has failed", *faults);
  std::unique_lock lock(mutex_);
  auto all_ended = [&] { return query->running.empty(); };
  // Keep cancelling: ranks may still be busy.
  while (!all_ended()) {
    // No task runs here any more whose timer would drive the deadline.
    if (token.deadline() && *token.deadline() < std::chrono::steady_clock::now()) token.expire();
    if (token.is_cancelled() && !query->source.is_cancelled()) query->source.cancel(token.reason());
    bool is_cancelled = query->source.is_cancelled() || own_error;
    if (is_cancelled) {
      std::string reason = query->source.token().reason();
      lock.unlock();
      cancel_everywhere(number, reason, *faults);
      lock.lock();
      auto patience = std::chrono::milliseconds(settings.peer_timeout);
      if (!changed_.wait_for(lock, patience, all_ended)) break;
    } else {
      changed_.wait_for(lock, std::chrono::milliseconds(50));
    }
  }
  std::optional<RemoteError> remote = query->error;
  query->losses_before = UINT64_MAX;  // later messages are not losses of this query
  for (auto& [other, profile] : query->profiles) profiles[static_cast<size_t>(other)] = std::move(profile);
  lock.unlock();
  bool own_is_cancellation = false;
  if (own_error) own_is_cancellation = RemoteError::of(own_error, 0).kind == RemoteError::Kind::Cancelled;
  if (own_error && !own_is_cancellation) std::rethrow_exception(own_error);
  if (remote && remote->kind == RemoteError::Kind::Peer) add_report(*remote, progress);
  if (remote && (remote->kind != RemoteError::Kind::Cancelled || !own_error)) remote->raise();
  if (own_error) std::rethrow_exception(own_error);
  return profiles;
}

void RankService::cancel_everywhere(int64_t number, const std::string& reason, FaultPlan& faults) {
  for (int other = 1; other < ranks(); ++other) {
    try {
      faults.reach(FaultPoint::CancelSent);
      send(other, MessageKind::Cancel, number, reason);
    } catch (const std::exception&) {
      // Out of memory for the message: run() repeats it while it waits for the end of the query.
    }
  }
}

void RankService::note_finished(int64_t number, int rank, const std::string& bytes) {
  PartResult result = PartResult::of_bytes(bytes, rank);
  std::optional<RemoteError>& error = result.error;
  std::shared_ptr<FaultPlan> faults;
  std::optional<int> unknown_loss;
  {
    std::lock_guard lock(mutex_);
    auto found = queries_.find(number);
    if (found == queries_.end()) return;
    Query& query = *found->second;
    faults = query.faults;
    // This rank has lost no rank since the query began, but another one has: those two cannot reach each other.
    bool is_news = error && error->lost_rank > 0 && error->lost_rank < ranks() && query.losses_before == membership_.losses();
    if (is_news && membership_.expects_returns()) unknown_loss = error->lost_rank;
    query.running.erase(rank);
    query.profiles.emplace(rank, std::move(result.profile));
    if (error) fail(query, std::move(*error));
    changed_.notify_all();
  }
  // Only a new process can reconnect them; whoever started the old one starts it when the old one ends.
  if (unknown_loss) {
    std::string why = fmt::format("rank {} has lost it", rank);
    try {
      send(*unknown_loss, MessageKind::GivenUp, *unknown_loss, why);
    } catch (const std::exception&) {
      // Out of memory for the message: the rank is lost here all the same, and its process stays until someone ends it.
    }
    note_loss(*unknown_loss, why, Membership::Witness::Launcher);
  }
  faults->reach(FaultPoint::FinishedReceived);
}

}  // namespace pistachio
