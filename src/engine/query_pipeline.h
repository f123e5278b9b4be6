// From a parsed query to its result: the table of contents of the engine.
#pragma once

#include <string>
#include <vector>

#include "binder/bind.h"
#include "engine/engine_instance.h"
#include "engine/result_receiver.h"
#include "exec/pipeline/plan_builder.h"
#include "network/exchange_hub.h"
#include "physical/exchange_placement.h"

namespace pistachio {

struct PlannedQuery {
  PhysicalPlan plan;
  std::vector<ResultColumn> columns;
  std::vector<LeftOutColumn> left_out;
  double planning_seconds = 0;
};

// Bind, optimize, choose algorithms, and spread the plan over the ranks.
PlannedQuery plan_query(const ast::Query& query, TableResolver& tables, const Settings& settings, const BindOptions& options,
                        const PlacementOptions& placement);

// Run on this rank, with others if there are exchanges; chunks arrive at the receiver as they are made. Without a receiver this rank only
// does its part for others. Rows for another rank are gathered until they have `message_bytes`.
void run_plan(EngineInstance& engine, EngineInstance::QueryScope& scope, ExecutablePlan& plan, ResultReceiver* receiver,
              const CancelToken& token, QueryExchanges* exchanges = nullptr, int64_t message_bytes = 0);

}  // namespace pistachio
