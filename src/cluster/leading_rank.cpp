// The part of RankService that only the first rank has: it sends plans to the others and waits until they finish.
#include <fmt/format.h>

#include <chrono>
#include <new>
#include <optional>

#include "base/byte_stream.h"
#include "base/check.h"
#include "cluster/exchange_tuning.h"
#include "cluster/rank_messages.h"
#include "cluster/rank_service.h"
#include "engine/query_pipeline.h"
#include "physical/plan_serializer.h"

namespace pistachio {

// Registers a query that this rank leads for as long as it runs. Messages that arrive after its end are ignored.
class RankService::LedQuery {
 public:
  LedQuery(RankService& service, const CancelToken& token, std::shared_ptr<FaultPlan> faults) : service_(service) {
    std::lock_guard lock(service.mutex_);
    service.membership_.require_all();
    number_ = service.next_number_++;
    query_ = service.queries_.emplace(number_, std::make_unique<RunningQuery>(token)).first->second.get();
    query_->faults = std::move(faults);
    query_->losses_before = service.membership_.losses();
    for (int other = 1; other < service.ranks(); ++other) query_->running.insert(other);
  }
  ~LedQuery() {
    std::lock_guard lock(service_.mutex_);
    service_.queries_.erase(number_);
  }
  LedQuery(const LedQuery&) = delete;
  LedQuery& operator=(const LedQuery&) = delete;

  int64_t number() const { return number_; }
  RunningQuery& query() { return *query_; }

 private:
  RankService& service_;
  int64_t number_ = 0;
  RunningQuery* query_ = nullptr;
};

std::vector<RankProfile> RankService::run(const PhysicalPlan& plan, EngineInstance::QueryScope& scope, ResultReceiver& receiver,
                                          const CancelToken& token, const RankRunOptions& options) {
  ENSURE_EQ(rank(), 0);
  PlanRun own_part(plan, token);
  const Settings& settings = scope.storage().settings;
  const ExchangeTuning tuning = tune_exchanges(settings, links_.known(), plan.exchanges, ranks());
  ByteWriter body;
  put_settings(body, settings);
  put_tuning(body, tuning);
  body.put<uint8_t>(options.watched ? 1 : 0);
  body.put<uint8_t>(options.is_retry ? 1 : 0);
  body.put_text(serialize_plan(plan));
  const std::string bytes = body.take();

  std::shared_ptr<FaultPlan> faults = faults_of(settings, options.is_retry);
  LedQuery led(*this, token, faults);
  const int64_t read_before = scope.read_pool().statistics().bytes;  // by an attempt that failed
  std::exception_ptr own_error;
  std::string progress;  // of the exchanges at the time of the error
  std::vector<RankProfile> profiles(static_cast<size_t>(ranks()));
  {
    QueryExchanges exchanges(hub_, led.number(), plan.exchanges, tuning.limits, extra_control_topics(plan), faults.get());
    int sent = 1;
    try {
      for (; sent < ranks(); ++sent) {
        faults->reach(FaultPoint::PlanSent);
        send(sent, MessageKind::Plan, led.number(), bytes);
      }
      const RunPeers peers{exchanges, tuning.buffered_bytes, options.watched};
      profiles[0] = own_part.run(engine_, scope, &receiver, led.query().source.token(), &peers);
      profiles[0].bytes_read -= read_before;
    } catch (...) {
      own_error = std::current_exception();
      try {
        progress = exchanges.describe();
      } catch (const std::bad_alloc&) {
        // The report does without it; the other ranks must still be stopped.
      }
    }
    // Ranks that never got the plan will not report an end.
    std::lock_guard lock(mutex_);
    for (; sent < ranks(); ++sent) led.query().running.erase(sent);
  }
  if (own_error) cancel_everywhere(led.number(), "another rank has failed", *faults);
  std::unique_lock lock(mutex_);
  wait_for_others(led, lock, own_error != nullptr, token, std::chrono::milliseconds(settings.peer_timeout));
  std::optional<RemoteError> remote = led.query().error;
  led.query().losses_before = UINT64_MAX;  // later losses do not concern this query
  for (auto& [other, profile] : led.query().profiles) profiles[static_cast<size_t>(other)] = std::move(profile);
  lock.unlock();
  raise_errors(own_error, std::move(remote), progress);
  return profiles;
}

void RankService::wait_for_others(LedQuery& led, std::unique_lock<std::mutex>& lock, bool has_failed, const CancelToken& token,
                                  std::chrono::milliseconds timeout) {
  RunningQuery& query = led.query();
  auto all_ended = [&] { return query.running.empty(); };
  // A cancellation has to reach ranks that are still busy.
  while (!all_ended()) {
    // No task runs here any more whose timer would drive the deadline.
    if (token.deadline() && *token.deadline() < std::chrono::steady_clock::now()) token.expire();
    if (token.is_cancelled() && !query.source.is_cancelled()) query.source.cancel(token.reason());
    bool is_cancelled = query.source.is_cancelled() || has_failed;
    if (is_cancelled) {
      std::string reason = query.source.token().reason();
      lock.unlock();
      cancel_everywhere(led.number(), reason, *query.faults);
      lock.lock();
      if (!changed_.wait_for(lock, timeout, all_ended)) break;
    } else {
      changed_.wait_for(lock, std::chrono::milliseconds(50));
    }
  }
}

void RankService::raise_errors(const std::exception_ptr& own_error, std::optional<RemoteError> remote, const std::string& progress) const {
  bool own_is_cancellation = false;
  if (own_error) own_is_cancellation = RemoteError::of(own_error, 0).kind == RemoteError::Kind::Cancelled;
  if (own_error && !own_is_cancellation) std::rethrow_exception(own_error);
  if (remote && remote->kind == RemoteError::Kind::Peer) add_report(*remote, progress);
  if (remote && (remote->kind != RemoteError::Kind::Cancelled || !own_error)) remote->raise();
  if (own_error) std::rethrow_exception(own_error);
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
    RunningQuery& query = *found->second;
    faults = query.faults;
    // This rank has lost no rank since the query began, but another one has: those two cannot reach each other.
    bool is_news = error && error->lost_rank > 0 && error->lost_rank < ranks() && query.losses_before == membership_.losses();
    if (is_news && membership_.expects_returns()) unknown_loss = error->lost_rank;
    query.running.erase(rank);
    query.profiles.emplace(rank, std::move(result.profile));
    if (error) query.fail(std::move(*error));
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
    note_loss(*unknown_loss, why, Membership::LossSource::Launcher);
  }
  faults->reach(FaultPoint::FinishedReceived);
}

}  // namespace pistachio
