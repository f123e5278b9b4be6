// One rank of a cluster. Rank 0 runs queries on all ranks; the others wait for plans and execute their part.
// Protocol: Plan to all; every rank runs its stages; Finished from each to rank 0, with its profile or error; Cancel to all if the query is cancelled or
// a rank has failed. Losing a rank fails every query it takes part in. When a lost rank is restarted, rank 0 tells the others (Replaced); they and the new
// process connect and confirm (Met); then the next query may start.
// Threads: one per query on ranks other than 0; messages arrive on the transport's thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/fault_plan.h"
#include "cluster/membership.h"
#include "cluster/rank_memory.h"
#include "cluster/rank_messages.h"
#include "cluster/remote_error.h"
#include "cluster/running_query.h"
#include "engine/engine_instance.h"
#include "engine/result_receiver.h"
#include "network/exchange_hub.h"
#include "network/link_survey.h"
#include "network/transport.h"
#include "profile/query_profile.h"

namespace pistachio {

struct RankServiceOptions {
  LinkSurveyOptions links = {};
  std::string host = {};      // host name to report; empty: the machine's name
  bool ranks_return = false;  // lost ranks are restarted
  // How long a statement waits for a lost rank to return.
  std::chrono::milliseconds timeout{30'000};
  // For a restarted rank: its incarnation, and the first query that it takes part in.
  int incarnation = 0;
  int64_t first_query = 0;
  std::string report_folder = {};  // for loss_report.h; empty: no reports
};

// Of one query.
struct RankRunOptions {
  bool watched = false;   // the profiles show use over time
  bool is_retry = false;  // after a rank was lost: fault_at had its fault in the first attempt
};

class RankService final : private MessageReceiver {
 public:
  // Both outlive the service.
  RankService(EngineInstance& engine, Transport& transport, RankServiceOptions options = {});
  // Cancels running queries and waits for them.
  ~RankService();

  int rank() const { return transport_.rank(); }
  int ranks() const { return transport_.ranks(); }

  // On the first rank: runs the plan on all ranks and passes its rows to the receiver; returns the profile of each rank. Throws the first
  // error of any rank.
  std::vector<RankProfile> run(const PhysicalPlan& plan, EngineInstance::QueryScope& scope, ResultReceiver& receiver,
                               const CancelToken& token, const RankRunOptions& options);

  // Measures the links between the ranks unless they are known or the settings make that unnecessary. Ignores errors, which the query would
  // report anyway, but not cancellation.
  void prepare_links(const Settings& settings, const CancelToken& token);
  LinkSurvey& links() { return links_; }

  // On the other ranks: returns when the first rank is gone, with the reason. Throws Cancelled, and PeerError if the first rank has given
  // this one up.
  std::string wait(const CancelToken& token);

  // As if the transport had lost the rank: for callers that learn of it sooner.
  void lose(int rank, const std::string& why) noexcept { note_loss(rank, why, Membership::LossSource::Launcher); }
  // On the first rank, statements wait for all ranks with membership().wait_for_all().
  Membership& membership() { return membership_; }
  const Membership& membership() const { return membership_; }
  // On the first rank: the lost rank has this new process. It is back when membership() says so.
  void begin_rejoin(const RankInfo& info);
  // The number of the next query.
  int64_t next_query() const;

  // By rank; nullopt for lost ranks.
  std::vector<std::optional<MemoryFigures>> memory(const CancelToken& token, const Settings& settings);

 private:
  class LedQuery;

  void on_message(int source, Message message) noexcept override;
  void on_peer_lost(int peer, std::string why) noexcept override { note_loss(peer, why, Membership::LossSource::Network); }
  void on_peer_replaced(const RankInfo& peer) noexcept override;
  void dispatch(int source, Message& message);
  void note_loss(int peer, const std::string& why, Membership::LossSource witness) noexcept;
  void note_cancel(int64_t number, const std::string& reason);
  void note_replaced(int source, const std::string& bytes);
  void note_given_up(std::string why);
  void start_query(int64_t number, const Message& message);
  // Reports the end of this rank's part to rank 0. If that fails, this rank leaves the cluster, or rank 0 would wait for it forever.
  void finish_part(int64_t number, const PartResult& result) noexcept;
  void run_part(int64_t number, const std::string& bytes, const CancelToken& token) noexcept;
  // Adds what other ranks have reported to the error of this rank's part, and a report on a lost rank.
  void explain_failure(int64_t number, RemoteError& error, const std::string& progress);
  RankProfile take_part(int64_t number, const std::string& bytes, const CancelToken& token, std::string& progress);
  void note_finished(int64_t number, int rank, const std::string& bytes);
  void fail_query(int64_t number, RemoteError error) noexcept;
  void note_unreceived(int source, const std::string& head);
  // On rank 0: waits for the ends of the other ranks, and makes them end if the query is cancelled or this rank has failed.
  // Called and returns with mutex_ locked by `lock`.
  void wait_for_others(LedQuery& led, std::unique_lock<std::mutex>& lock, bool has_failed, const CancelToken& token,
                       std::chrono::milliseconds timeout);
  // The error of a query that has ended on all ranks, if there is one: this rank's own or the first of another.
  void raise_errors(const std::exception_ptr& own_error, std::optional<RemoteError> remote, const std::string& progress) const;
  void cancel_everywhere(int64_t number, const std::string& reason, FaultPlan& faults);
  std::shared_ptr<FaultPlan> faults_of(const Settings& settings, bool is_retry);
  // Writes a report on a query that failed because a rank was lost, and names the file in the error.
  void add_report(RemoteError& error, const std::string& progress) const;
  void send(int rank, MessageKind kind, int64_t number, const std::string& body);

  EngineInstance& engine_;
  Transport& transport_;
  const RankServiceOptions options_;
  Membership membership_;
  ExchangeHub hub_;
  LinkSurvey links_;
  RankMemory memory_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::map<int64_t, std::unique_ptr<RunningQuery>> queries_;
  EarlyOutcomes early_outcomes_;
  std::string given_up_;  // why rank 0 has dropped this rank
  int64_t next_number_ = 1;
  bool is_stopping_ = false;
};

}  // namespace pistachio
