#include "exec/pipeline/scan_order.h"

#include <set>

namespace pistachio {

namespace {

class ScanCounter {
 public:
  explicit ScanCounter(const PhysicalPlan& plan) : plan_(plan) {}

  void visit(const PhysicalNode& node) {
    if (node.as<PhysicalScan>() != nullptr) numbers_.emplace(&node, static_cast<uint32_t>(numbers_.size()));
    if (const auto* read = node.as<PhysicalSharedRead>(); read != nullptr && shared_.insert(read->shared).second)
      visit(*plan_.shared[read->shared]);
    if (node.as<PhysicalJoin>() != nullptr) {
      visit(*node.children[1]);
      return visit(*node.children[0]);
    }
    for (const PhysicalPtr& child : node.children) visit(*child);
  }

  ScanNumbers take() { return std::move(numbers_); }

 private:
  const PhysicalPlan& plan_;
  ScanNumbers numbers_;
  std::set<size_t> shared_;  // common tables that were visited
};

}  // namespace

ScanNumbers scans_in_order_of_need(const PhysicalPlan& plan) {
  ScanCounter counter(plan);
  counter.visit(*plan.root);
  return counter.take();
}

}  // namespace pistachio
