#include "exec/window/window_results.h"

#include <optional>

#include "exec/window/window_aggregates.h"
#include "exec/window/window_concatenation.h"
#include "exec/window/window_ranking.h"
#include "exec/window/window_values.h"

namespace pistachio {

namespace {

bool same_bound(const FrameBound& left, const FrameBound& right) {
  const bool same_value = left.value == right.value || (left.value && right.value && same_expression(*left.value, *right.value));
  return left.kind == right.kind && left.count == right.count && same_value;
}

bool have_same_frame(const WindowCall& left, const WindowCall& right) {
  return left.order_keys == right.order_keys && left.frame.unit == right.frame.unit && left.frame.exclusion == right.frame.exclusion &&
         same_bound(left.frame.begin, right.frame.begin) && same_bound(left.frame.end, right.frame.end);
}

// The frames of the calls; those of several calls with the same frame are computed once.
class CallFrames {
 public:
  CallFrames(const WindowPlan& plan, const OrderedWindow& window) : plan_(plan), window_(window) {}

  const FrameRanges& of_call(size_t call) {
    const WindowCall& wanted = plan_.plan.calls[call];
    for (const Known& known : known_) {
      if (have_same_frame(plan_.plan.calls[known.call], wanted)) return *known.frames;
    }
    // Only frames of RANGE depend on the direction, and those have one key.
    const SortKey* key = plan_.plan.order.empty() ? nullptr : &plan_.plan.order[0];
    known_.push_back({call, std::make_unique<FrameRanges>(frames_of(wanted, plan_.calls[call], key != nullptr && key->descending,
                                                                    key != nullptr && key->nulls_first, window_))});
    return *known_.back().frames;
  }

 private:
  struct Known {
    size_t call;
    std::unique_ptr<FrameRanges> frames;
  };

  const WindowPlan& plan_;
  const OrderedWindow& window_;
  std::vector<Known> known_;
};

Column evaluate_call(const WindowPlan& plan, size_t number, const OrderedWindow& window, CallFrames& frames) {
  const WindowCall& call = plan.plan.calls[number];
  const WindowPlan::CallPlaces& places = plan.calls[number];
  switch (call.kind) {
    case WindowKind::Aggregate: return aggregate_frames(call, places, frames.of_call(number), window);
    case WindowKind::FirstValue:
    case WindowKind::LastValue:
    case WindowKind::NthValue: return value_in_frames(call, places, frames.of_call(number), window);
    case WindowKind::Concatenate: return concatenate_partitions(call, places, window);
    case WindowKind::Lag:
    case WindowKind::Lead: return value_of_neighbours(call, places, window);
    default: return rank_places(call, places, window);
  }
}

}  // namespace

WindowResults evaluate_window(const WindowPlan& plan, const Chunk& rows, const CancelToken& token) {
  const OrderedWindow window(plan, rows, token);
  CallFrames frames(plan, window);
  WindowResults results{window.order(), {}};
  for (size_t call = 0; call < plan.calls.size(); ++call) {
    token.throw_if_cancelled();
    results.columns.push_back(evaluate_call(plan, call, window, frames));
  }
  return results;
}

}  // namespace pistachio
