#include "physical/aggregate_stages.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "base/check.h"

namespace pistachio {

LogicalType argument_type(const AggregateCall& call) {
  return call.argument ? call.argument->type() : LogicalType(TypeKind::BigInt);
}

namespace {

bool is_sum(const AggregateCall& call) {
  return call.function->kind == AggregateKind::Sum || call.function->kind == AggregateKind::Average;
}

}  // namespace

bool state_serves(const AggregateCall& first, const AggregateCall& second) {
  auto same = [](const ExpressionPtr& one, const ExpressionPtr& other) {
    return one == other || (one && other && same_expression(*one, *other));
  };
  bool is_part = is_sum(second) || second.function->kind == AggregateKind::Count;
  return is_sum(first) && is_part && first.distinct == second.distinct && same(first.argument, second.argument) &&
         same(first.filter, second.filter);
}

AggregateStates share_states(const std::vector<AggregateCall>& calls) {
  // Calls with the same argument and filter as a sum share its state, even calls before it; of several such sums, the first has the state.
  std::unordered_multimap<size_t, size_t> sums;  // indexes into `calls`
  auto hash_of = [](const AggregateCall& call) {
    return (call.argument ? call.argument->hash() : 0) + 3 * (call.filter ? call.filter->hash() : 0);
  };
  auto find_sum = [&](const AggregateCall& call) -> std::optional<size_t> {
    auto [first, last] = sums.equal_range(hash_of(call));
    auto found = std::find_if(first, last, [&](const auto& sum) { return state_serves(calls[sum.second], call); });
    return found == last ? std::nullopt : std::optional(found->second);
  };
  for (size_t i = 0; i < calls.size(); ++i) {
    bool is_first_sum = is_sum(calls[i]) && !find_sum(calls[i]);
    if (is_first_sum) sums.emplace(hash_of(calls[i]), i);
  }
  AggregateStates made;
  std::vector<size_t> server_of_call;
  std::vector<size_t> state_of_server(calls.size());
  for (size_t i = 0; i < calls.size(); ++i) {
    server_of_call.push_back(find_sum(calls[i]).value_or(i));
    if (server_of_call[i] != i) continue;
    state_of_server[i] = made.kept.size();
    made.kept.push_back(calls[i]);
  }
  for (size_t server : server_of_call) made.state_of_call.push_back(state_of_server[server]);
  return made;
}

std::vector<AggregateCall> calls_with_state(const std::vector<AggregateCall>& calls) {
  return share_states(calls).kept;
}

std::vector<LogicalType> state_types(const AggregateCall& call) {
  switch (call.function->kind) {
    case AggregateKind::CountRows:
    case AggregateKind::Count: return {TypeKind::BigInt};
    case AggregateKind::Sum:
    case AggregateKind::Average:
      // The decimal type is only a container for 128-bit sums.
      if (argument_type(call).is_floating()) return {TypeKind::Double, TypeKind::BigInt};
      return {LogicalType::decimal(38, 0), TypeKind::BigInt};
    case AggregateKind::Min:
    case AggregateKind::Max:
    case AggregateKind::BoolAnd:
    case AggregateKind::BoolOr:
    case AggregateKind::AnyValue:
    case AggregateKind::BitAnd:
    case AggregateKind::BitOr:
    case AggregateKind::BitXor: return {argument_type(call)};
    case AggregateKind::VarianceSample:
    case AggregateKind::VariancePopulation:
    case AggregateKind::StddevSample:
    case AggregateKind::StddevPopulation: return {TypeKind::Double, TypeKind::Double, TypeKind::Double};
    case AggregateKind::ApproxCountDistinct: return {TypeKind::Blob};
    case AggregateKind::Ordered:         // the optimizer lowers it
    case AggregateKind::CountIf: break;  // the binder makes it a count
  }
  fail_check(__FILE__, __LINE__, "unknown aggregate");
}

bool can_aggregate_in_stages(const std::vector<AggregateCall>& calls) {
  return std::none_of(calls.begin(), calls.end(), [](const AggregateCall& call) { return call.distinct; });
}

}  // namespace pistachio
