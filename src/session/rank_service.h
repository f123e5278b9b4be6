// One rank of a cluster. The first rank runs queries on all of them; the others wait for plans and do their part.
// The protocol: Plan to all, everybody runs the stages of the plan that are on its rank, Finished from all to the first rank, with what
// they did or the error; Cancel to all when the query is cancelled or a rank has failed. A rank that is lost fails every query it takes
// part in. Threads: one for each query on ranks other than the first; messages arrive on the transport's thread.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "exec/plan_builder.h"
#include "network/exchange_hub.h"
#include "network/link_survey.h"
#include "network/transport.h"
#include "session/query_profile.h"
#include "session/remote_error.h"
#include "session/session.h"

namespace pistachio {

class RankService final : private MessageReceiver {
 public:
  // Both outlive the service.
  RankService(EngineInstance& engine, Transport& transport, LinkSurveyOptions links = {});
  // Cancels what runs and waits for it.
  ~RankService();

  int rank() const { return transport_.rank(); }
  int ranks() const { return transport_.ranks(); }

  // On the first rank: runs the plan on all ranks and gives its rows to the receiver; what it did on each, over time too if it is
  // `watched`. Throws the first error of any rank.
  std::vector<RankProfile> run(const PhysicalPlan& plan, ExecutablePlan& executable, EngineInstance::QueryScope& scope,
                               ResultReceiver& receiver, const CancelToken& token, bool watched = false);

  // Measures the links between the ranks unless that is done already or the settings make it needless. What goes wrong with that is left to
  // the query to say, except a cancellation.
  void prepare_links(const Settings& settings, const CancelToken& token);
  LinkSurvey& links() { return links_; }

  // On the others: returns when the first rank is gone; the reason. Throws Cancelled.
  std::string wait(const CancelToken& token);

  // As when the transport loses the rank: for those who learn sooner that it is gone.
  void lose(int rank, std::string why) noexcept { on_peer_lost(rank, std::move(why)); }

 private:
  // A query that this rank takes part in.
  struct Query {
    explicit Query(const CancelToken& parent) : source(parent) {}
    CancelSource source;
    std::thread thread;  // not on the first rank
    bool has_ended = false;
    std::optional<RemoteError> error;  // of another rank
    std::set<int> running;             // on the first rank: those whose Finished has not come
    std::map<int, RankProfile> profiles;
  };

  struct LostRank {
    int rank = 0;
    std::string why;
  };

  const LostRank* find_lost(int rank) const;
  void on_message(int source, Message message) noexcept override;
  void on_peer_lost(int peer, std::string why) noexcept override;
  void start_query(int64_t number, const Message& message);
  void run_part(int64_t number, const std::string& bytes, const CancelToken& token);
  RankProfile take_part(int64_t number, const std::string& bytes, const CancelToken& token);
  void note_finished(int64_t number, int rank, const std::string& bytes);
  void fail(Query& query, RemoteError error);
  void cancel_everywhere(int64_t number, const std::string& reason);
  void send(int rank, MessageKind kind, int64_t number, const std::string& body);
  ExchangeLimits limits(const Settings& settings, size_t exchanges) const;
  // How large messages are meant to be, if the settings leave it open.
  int64_t suitable_message_bytes(const ExchangeLimits& limits) const;
  // On or off, likewise.
  NetworkCompression suitable_compression(const Settings& settings) const;

  EngineInstance& engine_;
  Transport& transport_;
  ExchangeHub hub_;
  LinkSurvey links_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::map<int64_t, std::unique_ptr<Query>> queries_;
  std::vector<LostRank> lost_;         // in the order of their loss: the first may have taken the others with it
  std::set<int64_t> cancelled_early_;  // before their plan came
  int64_t next_number_ = 1;
  bool is_stopping_ = false;
};

}  // namespace pistachio
