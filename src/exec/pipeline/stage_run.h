// Runs the stages of an executable plan on one rank.
#pragma once

#include "exec/core/operator.h"
#include "exec/pipeline/plan_builder.h"

namespace pistachio {

// Runs all stages concurrently; the rows of the root go into the sink.
Task<void> run_stages(ExecutablePlan& plan, RunContext& context, ChunkSink& sink);

}  // namespace pistachio
