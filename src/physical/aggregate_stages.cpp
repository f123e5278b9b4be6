#include "physical/aggregate_stages.h"

#include <algorithm>

#include "base/check.h"

namespace pistachio {

LogicalType argument_type(const AggregateCall& call) {
  return call.argument ? call.argument->type() : LogicalType(TypeKind::BigInt);
}

bool state_serves(const AggregateCall& first, const AggregateCall& second) {
  auto same = [](const ExpressionPtr& one, const ExpressionPtr& other) {
    return one == other || (one && other && same_expression(*one, *other));
  };
  bool sums = first.function->kind == AggregateKind::Sum || first.function->kind == AggregateKind::Average;
  bool is_part = second.function->kind == AggregateKind::Sum || second.function->kind == AggregateKind::Average ||
                 second.function->kind == AggregateKind::Count;
  return sums && is_part && first.distinct == second.distinct && same(first.argument, second.argument) && same(first.filter, second.filter);
}

std::vector<AggregateCall> calls_with_state(const std::vector<AggregateCall>& calls) {
  std::vector<AggregateCall> kept;
  for (const AggregateCall& call : calls) {
    auto serves = [&](const AggregateCall& other) { return &other != &call && state_serves(other, call); };
    bool is_served = std::any_of(kept.begin(), kept.end(), serves);
    // A count is served by a sum that comes after it.
    if (call.function->kind == AggregateKind::Count) is_served = is_served || std::any_of(calls.begin(), calls.end(), serves);
    if (!is_served) kept.push_back(call);
  }
  return kept;
}

std::vector<LogicalType> state_types(const AggregateCall& call) {
  switch (call.function->kind) {
    case AggregateKind::CountRows:
    case AggregateKind::Count: return {TypeKind::BigInt};
    case AggregateKind::Sum:
    case AggregateKind::Average:
      // Sums of 128 bits, of which the type is only the shape.
      if (argument_type(call).is_floating()) return {TypeKind::Double, TypeKind::BigInt};
      return {LogicalType::decimal(38, 0), TypeKind::BigInt};
    case AggregateKind::Min:
    case AggregateKind::Max:
    case AggregateKind::BoolAnd:
    case AggregateKind::BoolOr: return {argument_type(call)};
    case AggregateKind::VarianceSample:
    case AggregateKind::VariancePopulation:
    case AggregateKind::StddevSample:
    case AggregateKind::StddevPopulation: return {TypeKind::Double, TypeKind::Double, TypeKind::Double};
  }
  fail_check(__FILE__, __LINE__, "unknown aggregate");
}

bool can_aggregate_in_stages(const std::vector<AggregateCall>& calls) {
  return std::none_of(calls.begin(), calls.end(), [](const AggregateCall& call) { return call.distinct; });
}

}  // namespace pistachio
