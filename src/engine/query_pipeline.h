// From SQL text to the result: the table of contents of the engine. Every statement that runs a query takes these stages, in this order:
//   parse -> bind -> optimize -> plan -> place     parse_sql, plan_query       on rank 0
//   build -> run -> deliver                        PlanRun                     on every rank
// SELECT, EXPLAIN ANALYZE, CREATE TABLE AS and INSERT differ in the receiver. A rank other than 0 starts at `build`, with the plan it was
// sent, and delivers nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "binder/bind.h"
#include "engine/engine_instance.h"
#include "engine/result_receiver.h"
#include "exec/pipeline/plan_builder.h"
#include "network/exchange_hub.h"
#include "physical/exchange_placement.h"
#include "profile/query_profile.h"

namespace pistachio {

// Parse. Throws UserError, Cancelled.
std::vector<ast::Statement> parse_sql(std::string_view text, const CancelToken& token);

struct PlannedQuery {
  PhysicalPlan plan;
  std::vector<ResultColumn> columns;
  std::vector<OmittedColumn> left_out;
  double planning_seconds = 0;
};

// Bind, optimize, plan, place, under the token of the options.
PlannedQuery plan_query(const ast::Query& query, TableResolver& tables, const Settings& settings, const BindOptions& options,
                        const PlacementOptions& placement);

// How a run communicates with the other ranks.
struct RunPeers {
  QueryExchanges& exchanges;
  int64_t message_bytes = 0;  // rows for another rank are buffered until they fill a message of this size
  bool samples_use = false;   // sample the use of storage and links over time for the profile
};

// One rank's part of a query: its operators, built once and run once. The plan outlives it. Used by one thread.
class PlanRun {
 public:
  // Build. Throws Cancelled.
  PlanRun(const PhysicalPlan& plan, const CancelToken& token, int rank = 0);

  // Run, and deliver chunks to the receiver as they are produced; a rank without a receiver only contributes to the result of rank 0.
  // `peers` is null if the query runs on one rank alone. Blocks until the end; returns what this rank did. Throws the first error.
  RankProfile run(EngineInstance& engine, EngineInstance::QueryScope& scope, ResultReceiver* receiver, const CancelToken& token,
                  const RunPeers* peers = nullptr);

 private:
  const PhysicalPlan& plan_;
  ExecutablePlan executable_;
};

}  // namespace pistachio
