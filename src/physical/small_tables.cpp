#include "physical/small_tables.h"

#include "expr/stability.h"

namespace pistachio {

namespace {

constexpr int64_t kSmallFileBytes = 1 << 20;

}  // namespace

bool is_small_table(const PhysicalNode& node) {
  if (const auto* scan = node.as<PhysicalScan>()) {
    if (!scan->is_split || !scan->table->has_footers()) return false;
    int64_t bytes = 0;
    for (const TableFile& file : scan->table->files().files) bytes += file.file->size();
    return bytes <= kSmallFileBytes;
  }
  if (node.as<PhysicalFilter>() == nullptr && node.as<PhysicalProject>() == nullptr) return false;
  bool gives_the_same = true;
  for_each_expression(node, [&](const ExpressionPtr& expression, int) { gives_the_same = gives_the_same && is_stable(*expression); });
  return gives_the_same && is_small_table(*node.children[0]);
}

void read_everywhere(PhysicalNode& node, const PhysicalPlan& plan) {
  for (const PhysicalPtr& child : node.children) read_everywhere(*child, plan);
  if (auto* scan = std::get_if<PhysicalScan>(&node.node)) {
    scan->is_split = false;
    scan->is_everywhere = true;
  }
  node.distribution = given_distribution(node, plan);
}

}  // namespace pistachio
