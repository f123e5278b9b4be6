#include <map>

#include "optimizer/rules.h"

namespace pistachio {

namespace {

void count_reads(const LogicalNode& node, std::map<size_t, int>& reads) {
  if (const auto* read = node.as<LogicalSharedRead>(); read != nullptr && !read->is_working_table) ++reads[read->shared];
  for (const LogicalPtr& child : node.children) count_reads(*child, reads);
}

// How often each shared plan is read by plans whose rows are read themselves. A plan only reads earlier ones.
std::map<size_t, int> count_live_reads(const LogicalPlan& plan) {
  std::map<size_t, int> reads;
  count_reads(*plan.root, reads);
  for (size_t i = plan.shared.size(); i-- > 0;) {
    if (plan.shared[i] != nullptr && reads[i] > 0) count_reads(*plan.shared[i], reads);
  }
  return reads;
}

}  // namespace

void inline_shared_plans(LogicalPlan& plan, const CancelToken& token) {
  std::map<size_t, int> reads = count_live_reads(plan);
  for (size_t i = 0; i < plan.shared.size(); ++i) {
    if (reads[i] == 0) plan.shared[i] = nullptr;
  }
  auto inline_node = [&](LogicalPtr& node) {
    auto* read = node->as<LogicalSharedRead>();
    if (read == nullptr || read->is_working_table || reads[read->shared] != 1) return;
    LogicalProject project;
    for (size_t i = 0; i < read->columns.size(); ++i)
      project.columns.push_back({read->columns[i], plan.columns.reference(read->sources[i])});
    LogicalPtr inner = std::move(plan.shared[read->shared]);
    node = make_node(std::move(project), std::move(inner));
  };
  // Later plans read earlier ones, so a plan is complete before it is inlined into its reader.
  for_each_root(plan, [&](LogicalPtr& root) { for_each_node(root, token, inline_node); });
}

}  // namespace pistachio
