// Aggregates with an order, a fraction or a second argument: first, quantile_cont, string_agg, corr and the like.
#include <fmt/format.h>

#include <utility>

#include "binder/query_binder.h"
#include "expr/expression_evaluator.h"
#include "expr/type_rules.h"

namespace pistachio {

namespace {

using Ordered = OrderedAggregate;

constexpr AggregateFunction kFirstValue{
    "any_value", AggregateKind::Ordered, [](LogicalType type) { return std::optional(std::pair(type, type)); }, "",
    "",          Ordered::FirstValue};

bool has_key(Ordered kind) {
  return kind == Ordered::ArgMin || kind == Ordered::ArgMax || kind == Ordered::ArgMinNull || kind == Ordered::ArgMaxNull;
}

bool is_quantile(Ordered kind) {
  return kind == Ordered::QuantileContinuous || kind == Ordered::QuantileDiscrete;
}

bool is_of_pairs(Ordered kind) {
  return kind >= Ordered::CovariancePopulation;
}

bool uses_order(Ordered kind) {
  return kind == Ordered::First || kind == Ordered::Last || kind == Ordered::FirstValue || kind == Ordered::Concatenate;
}

// Between two values of these types there are others.
bool is_continuous(LogicalType type) {
  return is_number(type) || type.kind() == TypeKind::Date || type.kind() == TypeKind::Timestamp || type.kind() == TypeKind::TimestampTz;
}

class OrderedCallBinding {
 public:
  using Bind = std::function<ExpressionPtr(const ast::Expression&)>;
  OrderedCallBinding(const ast::Call& call, int64_t position, Bind bind, const CancelToken& token)
      : call_(call), position_(position), bind_(std::move(bind)), token_(token) {
    const AggregateFunction* named = find_aggregate(call.name);
    bound_.function = named->kind == AggregateKind::Ordered ? named : &kFirstValue;
    kind_ = bound_.function->ordered;
  }

  AggregateCall bind() {
    if (call_.star) refuse_at(fmt::format("{}(*) does not exist; only count(*) does", call_.name), position_);
    const bool is_inverse = call_.name.starts_with("percentile_") || (kind_ == Ordered::Mode && call_.within_group);
    if (is_inverse) {
      bind_within_group();
    } else {
      bind_arguments();
    }
    if (bound_.argument->is_untyped()) bound_.argument = coerce(std::move(bound_.argument), TypeKind::Varchar);
    choose_types();
    bound_.distinct = call_.distinct;
    return std::move(bound_);
  }

 private:
  void bind_within_group() {
    const size_t fractions = kind_ == Ordered::Mode ? 0 : 1;
    if (!call_.within_group || call_.order_by.size() != 1 || call_.arguments.size() != fractions) refuse_usage();
    bound_.argument = bind_(*call_.order_by[0].expression);
    if (fractions == 1) bind_fraction(*call_.arguments[0]);
    if (fractions == 1) bound_.order.push_back(order_key(call_.order_by[0], bound_.argument));
  }

  void bind_arguments() {
    const bool takes_order = uses_order(kind_);
    if (call_.within_group && kind_ != Ordered::Concatenate) refuse_usage();
    const size_t least = has_key(kind_) || is_of_pairs(kind_) || (is_quantile(kind_) && call_.name != "median") ? 2 : 1;
    const size_t most = kind_ == Ordered::Concatenate ? 2 : least;
    if (call_.arguments.size() < least || call_.arguments.size() > most) refuse_usage();
    bound_.argument = bind_(*call_.arguments[0]);
    if (is_quantile(kind_)) {
      if (least == 2) {
        bind_fraction(*call_.arguments[1]);
      } else {
        bound_.further.push_back(Expression::constant(ScalarValue::of_floating(TypeKind::Double, 0.5), position_));
      }
    } else if (call_.arguments.size() == 2) {
      bound_.further.push_back(bind_(*call_.arguments[1]));
    } else if (kind_ == Ordered::Concatenate) {
      bound_.further.push_back(Expression::constant(ScalarValue::of_text(TypeKind::Varchar, ","), position_));
    }
    for (const ast::OrderItem& item : call_.order_by) {
      AggregateOrder key = order_key(item, bind_(*item.expression));
      if (takes_order) bound_.order.push_back(std::move(key));
    }
  }

  AggregateOrder order_key(const ast::OrderItem& item, ExpressionPtr expression) const {
    if (expression->is_untyped()) expression = coerce(std::move(expression), TypeKind::Varchar);
    const bool nulls_first = item.nulls == ast::OrderItem::Nulls::Default ? item.descending : item.nulls == ast::OrderItem::Nulls::First;
    return {std::move(expression), item.descending, nulls_first};
  }

  void bind_fraction(const ast::Expression& expression) {
    ExpressionPtr fraction = bind_(expression);
    if (!columns_of(*fraction).empty() || (!fraction->is_untyped() && !is_number(fraction->type())))
      refuse_at(fmt::format("the fraction of {} must be a constant number", call_.name), expression.position);
    const ScalarValue value = evaluate_constant(coerce(std::move(fraction), TypeKind::Double), token_);
    if (value.is_null || !(value.floating >= 0 && value.floating <= 1))
      refuse_at(fmt::format("the fraction of {} must be between 0 and 1", call_.name), expression.position);
    bound_.further.push_back(Expression::constant(value, expression.position));
  }

  void choose_types() {
    if (kind_ == Ordered::Concatenate) {
      bound_.argument = to_text(std::move(bound_.argument));
      bound_.further[0] = to_text(std::move(bound_.further[0]));
    }
    if (is_of_pairs(kind_)) {
      if (!bound_.further[0]->is_untyped() && !is_number(bound_.further[0]->type())) refuse_type(bound_.further[0]->type());
      bound_.further[0] = coerce(std::move(bound_.further[0]), TypeKind::Double);
    } else if (has_key(kind_) && bound_.further[0]->is_untyped()) {
      bound_.further[0] = coerce(std::move(bound_.further[0]), TypeKind::Varchar);
    }
    const LogicalType type = bound_.argument->type();
    if (kind_ == Ordered::QuantileContinuous && !is_continuous(type) && call_.name == "median")
      bound_.function = find_aggregate("quantile_disc");
    else if (kind_ == Ordered::QuantileContinuous && !is_continuous(type))
      refuse_type(type);
    const auto types = bound_.function->resolve(type);
    if (!types) refuse_type(type);
    bound_.argument = coerce(std::move(bound_.argument), types->first);
    bound_.type = types->second;
    if (bound_.function->ordered == Ordered::QuantileContinuous)
      bound_.type = is_number(type)                 ? LogicalType(TypeKind::Double)
                    : type.kind() == TypeKind::Date ? LogicalType(TypeKind::Timestamp)
                                                    : type;
    if (kind_ == Ordered::RegressionCount) bound_.type = TypeKind::BigInt;
  }

  ExpressionPtr to_text(ExpressionPtr value) const {
    if (!value->is_untyped() && value->type().kind() == TypeKind::Blob) refuse_type(value->type());
    return coerce(std::move(value), TypeKind::Varchar);
  }

  [[noreturn]] void refuse_type(LogicalType type) const {
    refuse_at(fmt::format("{} does not take {}", call_.name, type.to_string()), position_);
  }
  [[noreturn]] void refuse_usage() const {
    const std::string_view usage = bound_.function->signature.empty() ? "any_value(x [ORDER BY key, ...])" : bound_.function->signature;
    refuse_at(fmt::format("{} is written {}", call_.name, usage), position_);
  }

  const ast::Call& call_;
  const int64_t position_;
  const Bind bind_;
  const CancelToken& token_;
  OrderedAggregate kind_ = Ordered::None;
  AggregateCall bound_;
};

}  // namespace

AggregateCall QueryBinder::bind_ordered_call(const ast::Call& call, int64_t position, const ExpressionPlace& place) {
  auto bind_own = [&](const ast::Expression& expression) {
    ExpressionPtr bound = bind_expression(expression, place);
    return place.regroup ? place.regroup(std::move(bound)) : bound;
  };
  AggregateCall bound = OrderedCallBinding(call, position, bind_own, options_.token).bind();
  if (bound.distinct && bound.function->ordered >= OrderedAggregate::Skewness)
    refuse_at(fmt::format("DISTINCT in {} is not supported", call.name), position);
  if (call.filter) {
    bound.filter = bind_condition(*call.filter, place, "FILTER");
    if (place.regroup) bound.filter = place.regroup(std::move(bound.filter));
  }
  return bound;
}

}  // namespace pistachio
