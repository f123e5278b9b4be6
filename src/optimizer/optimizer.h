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
};

const std::vector<OptimizerRule>& optimizer_rules();

// Applies the rules in order, except those switched off by name. Throws InternalError when a rule breaks the plan, Cancelled when the token
// is cancelled or its deadline is past.
void optimize(LogicalPlan& plan, const Settings& settings, const CancelToken& token);

// Every column that a node uses comes from below it, exactly one node makes each, and no join depends on its left side any more if
// `is_unnested`. Throws InternalError.
void verify_plan(const LogicalPlan& plan, bool is_unnested);

}  // namespace pistachio
