// Builds operators from a physical plan. Exchanges cut the plan into stages: the part below sends, the part above reads, and all stages of a
// rank run concurrently. Nodes that run only on rank 0 have no operators on the other ranks.
#pragma once

#include <memory>
#include <vector>

#include "base/cancel_token.h"
#include "exec/core/operator.h"
#include "physical/physical_node.h"

namespace pistachio {

// Operators of a plan, with the node each was made from, for EXPLAIN ANALYZE. The plan outlives it.
struct ExecutablePlan {
  OperatorPtr root;                // null on ranks that have no part in the result
  std::vector<size_t> root_reads;  // the exchanges that the root stage may read

  // What is below an exchange.
  struct Stage {
    const PhysicalNode* exchange;
    OperatorPtr input;  // null if this rank has nothing to send
    std::vector<LogicalType> types;
    std::vector<size_t> reads;
    // Stages (places in `stages`) on the build side of a join whose probe side this one is on. Schedules that go step by step run them
    // first.
    std::vector<size_t> build_sides;
    bool is_shared = false;  // below a common table: others may need its rows at any time
    std::vector<size_t> makes_filters;
    std::unique_ptr<OperatorMetrics> metrics = std::make_unique<OperatorMetrics>();
  };
  std::vector<Stage> stages;
  std::vector<size_t> root_makes_filters;

  // What joins tell scans of their build sides; all of the plan, whether their join is on this rank or not.
  struct Filter {
    size_t number = 0;
    int64_t expected_keys = 0;
    bool is_made_here = false;
    bool is_same_everywhere = false;  // each rank has all build rows
  };
  std::vector<Filter> filters;
  size_t filter_numbers = 0;  // all are below

  struct Step {
    const PhysicalNode* node;
    Operator* op;
  };
  std::vector<Step> steps;
};

// Throws Cancelled.
ExecutablePlan build_executable(const PhysicalPlan& plan, int rank = 0, const CancelToken& token = {});

// What ranks tell each other about besides each exchange, for QueryExchanges.
size_t further_note_topics(const PhysicalPlan& plan);

}  // namespace pistachio
