// State of the queries that a rank takes part in. Guarded by the mutex of the RankService that owns them, except the token and the fault
// plan, which are thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "base/cancel_token.h"
#include "base/fault_plan.h"
#include "cluster/remote_error.h"
#include "profile/query_profile.h"

namespace pistachio {

struct RunningQuery {
  explicit RunningQuery(const CancelToken& parent) : source(parent) {}

  // Records the error and cancels the query. A real error replaces a cancellation: a rank that was stopped because another failed never
  // hides the failure. Needs no memory.
  void fail(RemoteError failure) noexcept;

  CancelSource source;
  std::thread thread;  // not on rank 0
  bool has_ended = false;
  std::optional<RemoteError> error;  // of another rank
  std::set<int> running;             // on rank 0: ranks whose Finished has not come
  std::map<int, RankProfile> profiles;
  std::shared_ptr<FaultPlan> faults = std::make_shared<FaultPlan>();
  uint64_t losses_before = 0;  // on rank 0: Membership::losses() when the query began
};

// Cancellations and failures of queries whose plan has not arrived yet; the oldest are forgotten. Allocates only when it is constructed: a
// failure may have to be noted because memory has run out.
class EarlyOutcomes {
 public:
  EarlyOutcomes();
  void add_cancel(int64_t query) noexcept;
  void add_failure(int64_t query, RemoteError error) noexcept;
  // True if the query was cancelled.
  bool take_cancel(int64_t query) noexcept;
  std::optional<RemoteError> take_failure(int64_t query) noexcept;

 private:
  struct Failed {
    int64_t query;
    RemoteError error;
  };
  std::vector<int64_t> cancelled_;
  std::vector<Failed> failed_;
};

}  // namespace pistachio
