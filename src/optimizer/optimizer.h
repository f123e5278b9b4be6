// The ordered list of rules over a logical plan.
#pragma once

#include <string_view>
#include <vector>

#include "base/cancel_token.h"
#include "config/settings.h"
#include "logical/logical_node.h"

namespace pistachio {

struct OptimizerRule {
  std::string_view name;
  std::string_view reason;
  void (*apply)(LogicalPlan& plan, const CancelToken& token);
  bool required = false;
  // Relies on bounds of values. With local_files the footers at hand are not those of the other ranks.
  bool needs_all_footers = false;
};

const std::vector<OptimizerRule>& optimizer_rules();

// Applies the rules in order, except those disabled by name. Throws InternalError if a rule breaks the plan, Cancelled if the token
// is cancelled or its deadline has passed.
void optimize(LogicalPlan& plan, const Settings& settings, const CancelToken& token);

// Checks that every column a node uses comes from below, that exactly one node produces each and, if `is_unnested`, that no join is
// dependent. Throws InternalError.
void verify_plan(const LogicalPlan& plan, bool is_unnested);

}  // namespace pistachio
