// From a parsed query to its result: the table of contents of the engine.
#pragma once

#include <string>
#include <vector>

#include "binder/bind.h"
#include "exec/plan_builder.h"
#include "session/session.h"

namespace pistachio {

struct PlannedQuery {
  PhysicalPlan plan;
  std::vector<ResultColumn> columns;
  std::vector<LeftOutColumn> left_out;
  double planning_seconds = 0;
};

// Bind, optimize, and choose algorithms.
PlannedQuery plan_query(const ast::Query& query, TableResolver& tables, const Settings& settings, const BindOptions& options);

// Run; chunks arrive at the receiver as they are made.
void run_plan(EngineInstance& engine, EngineInstance::QueryScope& scope, ExecutablePlan& plan, ResultReceiver& receiver,
              const CancelToken& token);

}  // namespace pistachio
