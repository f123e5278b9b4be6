// Builds operators from a physical plan. Exchanges cut the plan into stages: the part below an exchange sends, the part above reads. All
// stages of a rank run concurrently. Nodes that run only on rank 0 have no operators on the other ranks.
#pragma once

#include <memory>
#include <vector>

#include "base/cancel_token.h"
#include "exec/core/operator.h"
#include "physical/physical_node.h"

namespace pistachio {

// The operators of a plan, and for EXPLAIN ANALYZE the node that each was made from. The plan outlives it.
struct ExecutablePlan {
  OperatorPtr root;                // null on ranks that do not produce the result
  std::vector<size_t> root_reads;  // the exchanges that the root stage may read

  // The part of the plan below an exchange.
  struct Stage {
    const PhysicalNode* exchange;
    OperatorPtr input;  // null if this rank has nothing to send
    std::vector<LogicalType> types;
    std::vector<size_t> reads;
    // Stages (indexes into `stages`) on the build sides of joins whose probe side this stage is on. Schedules with build_first run them
    // first.
    std::vector<size_t> build_sides;
    bool is_shared = false;  // below a common table, whose rows other stages may need at any time
    std::vector<size_t> makes_filters;
    // If rows are merged in transit: the stages (indexes into `stages`) that send what this one's readers have merged, in order. Rows that
    // are not merged are sent by this stage through the exchanges of those.
    std::vector<size_t> later_senders;
    std::unique_ptr<OperatorMetrics> metrics = std::make_unique<OperatorMetrics>();
  };
  std::vector<Stage> stages;
  std::vector<size_t> root_makes_filters;

  // The join filters of the whole plan, also of joins that do not run on this rank.
  struct Filter {
    size_t number = 0;
    int64_t expected_keys = 0;
    bool is_made_here = false;
    bool is_same_everywhere = false;  // every rank has all build rows
  };
  std::vector<Filter> filters;
  size_t filter_numbers = 0;  // filter numbers are below this
  size_t top_filters = 0;

  struct Step {
    const PhysicalNode* node;
    Operator* op;
  };
  std::vector<Step> steps;
};

// Throws Cancelled.
ExecutablePlan build_executable(const PhysicalPlan& plan, int rank = 0, const CancelToken& token = {});

// Control topics that a query needs besides one per exchange, for QueryExchanges.
size_t extra_control_topics(const PhysicalPlan& plan);

}  // namespace pistachio
