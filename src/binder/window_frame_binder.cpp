// A frame of RANGE with offsets ends at values of the order key: key - offset and key + offset become expressions, in a type in which they do
// not overflow where there is one.
#include "binder/window_frame_binder.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "binder/query_binder.h"
#include "expr/cast.h"
#include "expr/expression_evaluator.h"
#include "expr/function_table.h"
#include "expr/type_rules.h"

namespace pistachio {

namespace {

// Sums of BIGINTs below this do not overflow.
constexpr int64_t kSmallOffset = int64_t{1} << 62;

FrameBound::Kind kind_of(ast::FrameBound::Kind kind) {
  return static_cast<FrameBound::Kind>(static_cast<int>(kind));
}

bool has_offset(const ast::FrameBound& bound) {
  return bound.offset != nullptr;
}

class FrameBinding {
 public:
  using BindOffset = std::function<ExpressionPtr(const ast::Expression&)>;
  FrameBinding(const std::vector<SortKey>& order, const BindOffset& bind_offset, const CancelToken& token)
      : order_(order), bind_offset_(bind_offset), token_(token) {}

  FrameBound counted(const ast::FrameBound& bound) const {
    FrameBound made{.kind = kind_of(bound.kind)};
    if (!has_offset(bound)) return made;
    ExpressionPtr offset = bind_offset_(*bound.offset);
    if (!offset->is_untyped() && !is_integer(offset->type()))
      refuse_at(fmt::format("the offset of a frame must be a whole number, not {}", offset->type().to_string()), bound.offset->position);
    const ScalarValue value = value_of(coerce(std::move(offset), TypeKind::BigInt), bound);
    if (value.integer < 0) refuse_at("the offset of a frame must not be negative", bound.offset->position);
    made.count = static_cast<int64_t>(value.integer);
    return made;
  }

  // Both bounds of RANGE, and the key in their type.
  void bind_range(const ast::WindowFrame& frame, WindowFrame& made) const {
    const SortKey& key = order_[0];
    const ExpressionPtr begin = has_offset(frame.begin) ? offset_of(frame.begin) : nullptr;
    const ExpressionPtr end = has_offset(frame.end) ? offset_of(frame.end) : nullptr;
    const ExpressionPtr typed = in_type_of_bounds(key.expression, {begin, end});
    std::optional<LogicalType> type;
    auto bound_at = [&](const ast::FrameBound& bound, const ExpressionPtr& offset) -> ExpressionPtr {
      if (!offset) return nullptr;
      const bool adds = (bound.kind == ast::FrameBound::Kind::Following) != key.descending;
      ExpressionPtr value = offset->type().is_floating() || typed->type().is_floating()
                                ? floating_bound(typed, offset, adds)
                                : make_call(adds ? "+" : "-", {typed, offset}, bound.offset->position);
      type = type ? common_type(*type, value->type()) : value->type();
      return value;
    };
    made.begin.value = bound_at(frame.begin, begin);
    made.end.value = bound_at(frame.end, end);
    for (ExpressionPtr* value : {&made.begin.value, &made.end.value}) {
      if (*value) *value = coerce(std::move(*value), *type);
    }
    made.range_key = coerce(typed, *type);
  }

 private:
  ScalarValue value_of(const ExpressionPtr& offset, const ast::FrameBound& bound) const {
    ScalarValue value = evaluate_constant(offset, token_);
    if (value.is_null) refuse_at("the offset of a frame must not be NULL", bound.offset->position);
    return value;
  }

  // As a constant that fits the key.
  ExpressionPtr offset_of(const ast::FrameBound& bound) const {
    const LogicalType key = order_[0].expression->type();
    const int64_t position = bound.offset->position;
    const bool is_in_time = is_date_like(key) || is_time_of_day(key) || key.kind() == TypeKind::Interval;
    if (!is_number(key) && !is_in_time)
      refuse_at(fmt::format("RANGE with an offset does not take an order of {}", key.to_string()), position);
    ExpressionPtr offset = bind_offset_(*bound.offset);
    if (offset->is_untyped()) offset = coerce(std::move(offset), is_in_time ? LogicalType(TypeKind::Interval) : key);
    const bool fits = is_in_time ? offset->type().kind() == TypeKind::Interval : is_number(offset->type());
    if (!fits)
      refuse_at(fmt::format("the offset {} does not fit an order of {}", offset->type().to_string(), key.to_string()), position);
    ExpressionPtr value = Expression::constant(value_of(offset, bound), position);
    const ExpressionPtr zero = coerce(Expression::untyped(ScalarValue::of_text(TypeKind::Varchar, "0"), position), value->type());
    const bool is_nan = value->type().is_floating() && value->value().floating != value->value().floating;
    if (is_nan || evaluate_constant(make_call("<", {value, zero}), token_).integer != 0)
      refuse_at("the offset of a frame must not be negative", position);
    return value;
  }

  static ExpressionPtr floating(double value) { return Expression::constant(ScalarValue::of_floating(TypeKind::Double, value)); }

  // Bounds beyond all numbers are infinite, and an infinite offset reaches all numbers, even from the infinity at the other end. NaN stays
  // NaN and NULL stays NULL.
  static ExpressionPtr floating_bound(const ExpressionPtr& key, const ExpressionPtr& offset, bool adds) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr double kLargest = std::numeric_limits<double>::max();
    const ExpressionPtr value = coerce(key, TypeKind::Double);
    const ExpressionPtr step = coerce(offset, TypeKind::Double);
    const ExpressionPtr is_number = make_call("<", {value, floating(std::numeric_limits<double>::quiet_NaN())});
    const ExpressionPtr beyond = floating(adds ? kInfinity : -kInfinity);
    const double length = evaluate_constant(step, {}).floating;
    if (length == kInfinity) return Expression::conditional(ExpressionKind::Case, {is_number, beyond, value}, TypeKind::Double);
    const ExpressionPtr overflows =
        adds ? make_call(">", {value, floating(kLargest - length)}) : make_call("<", {value, floating(length - kLargest)});
    const ExpressionPtr is_beyond = Expression::logical(ExpressionKind::And, {is_number, overflows});
    return Expression::conditional(ExpressionKind::Case, {is_beyond, beyond, make_call(adds ? "+" : "-", {value, step})}, TypeKind::Double);
  }

  // A time of day starts anew at midnight: as intervals, times do not.
  static ExpressionPtr in_type_of_bounds(const ExpressionPtr& key, std::initializer_list<ExpressionPtr> offsets) {
    const LogicalType type = key->type();
    if (is_time_of_day(type)) return coerce(key, TypeKind::Interval);
    const auto all = [&](auto holds) {
      return std::all_of(offsets.begin(), offsets.end(), [&](const ExpressionPtr& offset) { return !offset || holds(*offset); });
    };
    if (!is_integer(type) || !all([](const Expression& offset) { return is_exact_number(offset.type()); })) return key;
    const bool are_small = type.kind() != TypeKind::BigInt && all([](const Expression& offset) {
      return is_integer(offset.type()) && offset.value().integer < kSmallOffset;
    });
    return coerce(key, are_small ? LogicalType(TypeKind::BigInt) : as_decimal(type));
  }

  const std::vector<SortKey>& order_;
  const BindOffset& bind_offset_;
  const CancelToken& token_;
};

}  // namespace

WindowFrame bind_window_frame(const ast::WindowFrame& frame, const std::vector<SortKey>& order, int64_t position,
                              const std::function<ExpressionPtr(const ast::Expression&)>& bind_offset, const CancelToken& token) {
  using Unit = ast::WindowFrame::Unit;
  if (frame.unit == Unit::Groups && order.empty()) refuse_at("a frame of GROUPS needs ORDER BY", position);
  const bool has_offsets = has_offset(frame.begin) || has_offset(frame.end);
  if (frame.unit == Unit::Range && has_offsets && order.size() != 1)
    refuse_at("a frame of RANGE with an offset needs exactly one key in ORDER BY", position);
  WindowFrame made;
  made.unit = static_cast<WindowFrame::Unit>(static_cast<int>(frame.unit));
  made.exclusion = static_cast<WindowFrame::Exclusion>(static_cast<int>(frame.exclusion));
  const FrameBinding binding(order, bind_offset, token);
  if (frame.unit == Unit::Range) {
    made.begin.kind = kind_of(frame.begin.kind);
    made.end.kind = kind_of(frame.end.kind);
    if (has_offsets) binding.bind_range(frame, made);
  } else {
    made.begin = binding.counted(frame.begin);
    made.end = binding.counted(frame.end);
  }
  return made;
}

}  // namespace pistachio
